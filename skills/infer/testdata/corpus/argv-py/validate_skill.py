#!/usr/bin/env python3
"""
Quick validation of a skill folder.
"""
import re
import sys
import yaml
from pathlib import Path

def validate_skill(skill_path):
    text = (Path(skill_path) / "SKILL.md").read_text()
    match = re.match(r"^---\n(.*?)\n---", text, re.DOTALL)
    if not match:
        return False, "No frontmatter"
    data = yaml.safe_load(match.group(1))
    for key in ("name", "description"):
        if key not in data:
            return False, f"Missing {key}"
    return True, "Skill is valid"

if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("Usage: python validate_skill.py <skill_directory>")
        sys.exit(1)
    valid, message = validate_skill(sys.argv[1])
    print(message)
    sys.exit(0 if valid else 1)
