#!/usr/bin/env python3
import json, os

prompt = json.loads(os.environ["SKILL_PARAMS"])["prompt"]
message = {"role": "user", "content": {"type": "text", "text": prompt}}
request = {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}}
print(json.dumps({"mcp": {"requests": {"reply": request}}}), flush=True)
print("LLM response:", input())
