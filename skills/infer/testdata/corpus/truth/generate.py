#!/usr/bin/env python3
"""Writes the truth beside each script of the corpus.

Usage: generate.py CORPUS WORK [KIND/NAME ...]

WORK is a folder with node_modules (see README.md). hand.txt in this folder has the
truth that no library knows, and what a library does not know of its script.
"""
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = os.environ.get("NODE", "node")
DUMPED = {"parseargs"}
EXTENSIONS = (".js", ".mjs", ".cjs", ".ts", ".py", ".sh")
TYPES = {"int": "integer", "num": "number", "bool": "boolean", "string": "string", "any": "any"}


def canonical(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def hand_lines(text):
    """Returns the lines of each script in a file like hand.txt."""
    found, name = {}, None
    for line in text.splitlines():
        if line.startswith("@@@ "):
            name = line[4:].strip()
            found[name] = []
        elif line.strip() and name:
            found[name].append(line.strip())
    return found


def parameter(line):
    """Returns the parameter of a line: NAME[/NAME][...][!] [TYPE] [=DEFAULT] [in A,B] [either] [computed] [joined] [| TEXT]."""
    head, _, text = line.partition("|")
    words = head.split()
    names = words[0]
    p = {}
    required = names.endswith("!")
    names = names.rstrip("!")
    if names.endswith("..."):
        p["array"] = True
        names = names[:-3]
    flag = names.startswith("-")
    alternatives = [n.lstrip("-") for n in names.split("/")]
    p["name"] = alternatives[0]
    if alternatives[1:]:
        p["names"] = alternatives[1:]
    if flag:
        p["flag"] = names.split("/")[0]
    else:
        p["positional"] = True
    p["type"] = "string"
    rest = words[1:]
    given = False
    while rest:
        word = rest.pop(0)
        if word in TYPES:
            p["type"] = TYPES[word]
            given = True
        elif word == "in":
            p["enum"] = rest.pop(0).split(",")
        elif word == "[]":
            p["array"] = True
        elif word.startswith("="):
            p["default"] = json.loads(word[1:]) if word.startswith("=[") else word[1:]
            p["accept"] = p.get("accept", []) + ["no default"]
        elif word == "either":  # the script starts without it, and is of no use
            p["accept"] = p.get("accept", []) + ["required"]
        elif word == "computed":  # at each start
            p["accept"] = p.get("accept", []) + ["default"]
        elif word == "joined":  # the script joins the words of the list
            p["accept"] = p.get("accept", []) + ["scalar"]
        else:
            sys.exit("cannot read " + line)
    if required:
        p["required"] = True
        if flag:  # the script says so, and not the library
            p["accept"] = p.get("accept", []) + ["required"]
    if text.strip():
        p["description"] = text.strip()
    if p["type"] in ("integer", "number"):
        p["accept"] = p.get("accept", []) + ["string", "integer", "number"]
        if "default" in p:
            p["default"] = float(p["default"]) if "." in p["default"] else int(p["default"])
    elif p["type"] == "string" and p.get("positional"):
        p["accept"] = p.get("accept", []) + ["any"]
    if not given:
        p["untyped"] = True
    return p


def apply(truth, lines):
    """Adds the hand-written lines to what a library says."""
    for line in lines:
        if line in ("none", "unknown"):
            truth["state"] = line
            truth["parameters"] = []
            truth.pop("commands", None)
            continue
        if line.startswith("drop "):
            wanted = canonical(line[5:])
            truth["parameters"] = [p for p in truth["parameters"] if canonical(p["name"]) != wanted]
            continue
        p = parameter(line)
        names = {canonical(n) for n in [p["name"], *p.get("names", [])]}
        untyped = p.pop("untyped", False)
        for old in truth["parameters"]:
            if ("flag" in p) == ("flag" in old) and {canonical(n) for n in [old["name"], *old.get("names", [])]} & names:
                p["accept"] = p.get("accept", [])
                if untyped:
                    p.pop("type")
                    p["accept"] = [a for a in p.get("accept", []) if a in ("required", "no default", "default", "scalar")] + old.get("accept", [])
                merged = list(dict.fromkeys([old["name"], *old.get("names", []), p["name"], *p.get("names", [])]))
                p.pop("name"), p.pop("names", None)
                old.update(p)
                old["name"], old["names"] = merged[0], merged[1:]
                break
        else:
            truth["parameters"].append(p)


def dumped(path, kind, work):
    copy = os.path.join(work, "scripts", kind, os.path.basename(path))
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    shutil.copy(path, copy)
    out = os.path.join(work, "dump.json")
    if os.path.exists(out):
        os.remove(out)
    env = dict(os.environ, DUMP=out, PYTHONPATH=HERE)
    env["GITHUB_TOKEN"] = "x"
    if path.endswith(".py"):
        argv = ["python3", "-B", copy]
    else:
        argv = [NODE, "--no-warnings", "--import", os.path.join(HERE, "preload.mjs"), copy]
    run = subprocess.run(argv, cwd=work, env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if not os.path.exists(out):
        print(f"{kind}/{os.path.basename(path)}: nothing was read: {run.stdout[-300:]} {run.stderr[-800:]}", file=sys.stderr)
        return None
    with open(out) as f:
        return json.load(f)


def main():
    corpus, work = sys.argv[1], os.path.abspath(sys.argv[2])
    only = set(sys.argv[3:])
    with open(os.path.join(corpus, "hand.txt")) as f:
        hand = hand_lines(f.read())
    failed = 0
    for kind in sorted(os.listdir(corpus)):
        folder = os.path.join(corpus, kind)
        if kind == "truth" or not os.path.isdir(folder):
            continue
        for name in sorted(os.listdir(folder)):
            key = f"{kind}/{name}"
            if not name.endswith(EXTENSIONS) or only and key not in only:
                continue
            truth = {"state": "arguments", "parameters": []}
            lines = hand.get(key, [])
            if kind in DUMPED:
                read = dumped(os.path.join(folder, name), kind, work)
                if read is None:
                    failed += 1
                    continue
                truth.update(read)
            elif not lines:
                print(f"{key}: no truth", file=sys.stderr)
                failed += 1
                continue
            apply(truth, lines)
            if truth["state"] == "arguments" and not truth["parameters"] and not truth.get("commands"):
                truth["state"] = "none"
            with open(os.path.join(folder, name + ".json"), "w") as f:
                json.dump(truth, f, indent=1, ensure_ascii=False)
                f.write("\n")
    sys.exit(1 if failed else 0)


main()
