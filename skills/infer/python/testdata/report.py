"""Reports, for each script on standard input, what Python's own argparse makes
of it. One JSON object a line: {"name", "source", "argvs"}; the answer has the
parser's actions, and the values that each argv gives.
"""
import argparse
import contextlib
import io
import json
import pathlib
import sys


class Parsed(BaseException):
    def __init__(self, parser):
        self.parser = parser


def stop(self, *args, **kwargs):
    raise Parsed(self)


real = argparse.ArgumentParser.parse_args


def plain(v):
    if isinstance(v, (list, tuple, range)):
        return [plain(item) for item in v]
    if isinstance(v, dict):
        return {str(k): plain(item) for k, item in v.items()}
    if isinstance(v, pathlib.PurePath):
        return str(v)
    if v is None or isinstance(v, (bool, int, float, str)):
        return v
    return "?"


KINDS = {
    "_StoreAction": "store", "_StoreTrueAction": "store_true", "_StoreFalseAction": "store_false",
    "_StoreConstAction": "store_const", "_AppendAction": "append", "_AppendConstAction": "append_const",
    "_ExtendAction": "extend", "_CountAction": "count", "BooleanOptionalAction": "boolean",
    "_HelpAction": "help", "_VersionAction": "version",
}


def action(parser, a):
    shown = None
    if a.help is not None and a.help is not argparse.SUPPRESS:
        try:
            shown = " ".join(parser._get_formatter()._expand_help(a).split())
        except (KeyError, TypeError, ValueError):
            shown = " ".join(a.help.split())
    return {
        "flags": list(a.option_strings), "dest": a.dest, "kind": KINDS.get(type(a).__name__, "custom"),
        "nargs": None if a.nargs in (None, 0) else str(a.nargs), "const": plain(a.const), "default": plain(a.default),
        "type": getattr(a.type, "__name__", None), "choices": None if a.choices is None else plain(list(a.choices)),
        "required": a.required, "help": shown,
    }


def report(parser):
    subs = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    commands = {}
    for sub in subs:
        seen = []
        for name, child in sub.choices.items():
            if child not in seen:
                seen.append(child)
                commands[name] = report(child)
    return {
        "description": parser.description and " ".join(parser.description.split()),
        "actions": [action(parser, a) for a in parser._actions if a not in subs],
        "exclusive": [[g.required, [a.dest for a in g._group_actions]] for g in parser._mutually_exclusive_groups],
        "commands": commands,
        "dest": subs[0].dest if subs and subs[0].dest is not argparse.SUPPRESS else None,
        "must": bool(subs and subs[0].required),
    }


def values(parser, argv):
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(errors):
            return {"values": {k: plain(v) for k, v in vars(real(parser, argv)).items()}}
    except (SystemExit, Exception) as e:
        return {"error": f"{e!r}: {errors.getvalue()}"}


def answer(request):
    argparse.ArgumentParser.parse_args = stop
    sys.argv = [request["name"]]
    try:
        exec(compile(request["source"].encode(), request["name"], "exec"), {"__name__": "__main__", "__file__": request["name"]})
    except Parsed as parsed:
        argparse.ArgumentParser.parse_args = real
        return {"parser": report(parsed.parser), "parsed": [values(parsed.parser, argv) for argv in request["argvs"] or []]}
    except Exception as e:
        return {"error": repr(e)}
    return {"error": "nothing was parsed"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
