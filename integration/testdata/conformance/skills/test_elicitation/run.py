#!/usr/bin/env python3
import json, os

answers = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
message = json.loads(os.environ["SKILL_PARAMS"])["message"]
print(json.dumps({"mcp": {"ask": {"message": message, "schema": answers}}}), flush=True)
print("User response:", input())
