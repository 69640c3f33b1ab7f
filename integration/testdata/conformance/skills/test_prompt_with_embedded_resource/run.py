#!/usr/bin/env python3
import json, os

uri = json.loads(os.environ["SKILL_PARAMS"])["resourceUri"]
resource = {"uri": uri, "mimeType": "text/plain", "text": "Embedded resource content for testing."}
content = [{"type": "resource", "resource": resource}, "Please process the embedded resource above."]
print(json.dumps({"mcp": {"content": content}}))
