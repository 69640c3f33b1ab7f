#!/usr/bin/env python3
"""Rank the functions of Python code by cyclomatic complexity (McCabe).

Prints one JSON object. What counts is listed in SKILL.md.
"""

import ast
import gc
import sys
from collections import Counter

sys.dont_write_bytecode = True  # the skill's folder is read-only where this runs

import pyfiles

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Statements and expressions that add one path each. Handlers of "except*" are
# ExceptHandler nodes as well.
ONE_EACH = {
    ast.If: "if",
    ast.For: "for",
    ast.AsyncFor: "for",
    ast.While: "while",
    ast.With: "with",
    ast.AsyncWith: "with",
    ast.ExceptHandler: "except",
    ast.IfExp: "ternary",
}

# Nodes below which no decision can lie: most of a tree, so not visited.
LEAVES = frozenset({
    ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.Break, ast.Continue,
    ast.alias, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal,
    *ast.operator.__subclasses__(), *ast.unaryop.__subclasses__(),
    *ast.cmpop.__subclasses__(), *ast.boolop.__subclasses__(),
})

RATINGS = ((5, "A"), (10, "B"), (20, "C"), (30, "D"), (40, "E"))


def main():
    arguments = pyfiles.Arguments(__doc__)
    arguments.add_argument("--threshold", type=pyfiles.whole_number, default=5,
                           help="list functions of at least this complexity (default 5)")
    arguments.add_argument("--top_n", type=pyfiles.whole_number, default=25,
                           help="list at most this many (default 25)")
    options = arguments.parse_args()
    # Syntax trees hold no cycles, and looking for some doubles the time.
    gc.disable()

    skipped = pyfiles.Skipped()
    functions, files = [], 0
    for path, shown in pyfiles.python_files(options.path, skipped):
        try:
            tree, _ = pyfiles.parse(path)
        except pyfiles.Unusable as err:
            skipped.add(shown, str(err))
            continue
        functions.extend(functions_in(tree, shown))
        files += 1
        pyfiles.progress(files)
    pyfiles.emit(report(options, functions, files, skipped))


def functions_in(tree, shown):
    """Every function and method of a module, nested ones as their own entries."""
    found = []
    # One entry per scope: the nodes to visit, the function that pays for them
    # (None at module level) and the prefix of names defined there. Explicit
    # stacks, because a long "elif" chain nests deeper than Python may recurse.
    scopes = [(list(tree.body), None, "")]
    while scopes:
        nodes, owner, prefix = scopes.pop()
        while nodes:
            node = nodes.pop()
            kind = type(node)
            if kind in FUNCTIONS:
                inner = {
                    "file": shown,
                    "line": node.lineno,
                    "name": prefix + node.name,
                    "lines": node.end_lineno - node.lineno + 1,
                    "decisions": Counter(),
                }
                found.append(inner)
                scopes.append((list(node.body), inner["decisions"], inner["name"] + ".<locals>."))
                # Decorators, defaults and annotations run where the function
                # is defined, so they belong to the scope around it.
                nodes.extend(children(node, leave_out="body"))
                continue
            if kind is ast.ClassDef:
                scopes.append((list(node.body), owner, prefix + node.name + "."))
                nodes.extend(children(node, leave_out="body"))
                continue
            if owner is not None:
                count(node, kind, owner)
            nodes.extend(children(node))
    return found


def children(node, leave_out=""):
    below = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            if field != leave_out:
                below += [item for item in value if isinstance(item, ast.AST) and type(item) not in LEAVES]
        elif isinstance(value, ast.AST) and type(value) not in LEAVES:
            below.append(value)
    return below


def count(node, kind, decisions):
    if kind in ONE_EACH:
        decisions[ONE_EACH[kind]] += 1
    elif kind is ast.BoolOp:
        decisions["and/or"] += len(node.values) - 1
    elif kind is ast.comprehension:
        if node.ifs:
            decisions["comprehension if"] += len(node.ifs)
    elif kind is ast.match_case:
        # A case that always matches is the "else" of a match, not a decision.
        if node.guard is not None or not always_matches(node.pattern):
            decisions["case"] += 1


def always_matches(pattern):
    """True for "_", for a bare name, and for an alternative ending in one."""
    if isinstance(pattern, ast.MatchOr):
        pattern = pattern.patterns[-1]
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def rating(complexity):
    for limit, letter in RATINGS:
        if complexity <= limit:
            return letter
    return "F"


def report(options, functions, files, skipped):
    for function in functions:
        function["complexity"] = 1 + sum(function["decisions"].values())
    functions.sort(key=lambda f: (-f["complexity"], f["file"], f["line"], f["name"]))
    chosen = [f for f in functions if f["complexity"] >= options.threshold]
    listed = chosen[:options.top_n]
    ratings = Counter(rating(f["complexity"]) for f in functions)
    total = sum(f["complexity"] for f in functions)
    result = {
        "path": pyfiles.printable(options.path),
        "threshold": options.threshold,
        "summary": {
            "files": files,
            "files_skipped": skipped.count,
            "functions": len(functions),
            "average_complexity": round(total / len(functions), 2) if functions else 0,
            "max_complexity": functions[0]["complexity"] if functions else 0,
            "at_or_above_threshold": len(chosen),
            "listed": len(listed),
            "ratings": {letter: ratings[letter] for letter in "ABCDEF"},
        },
        "functions": [entry(rank, function) for rank, function in enumerate(listed, 1)],
        "skipped": skipped.listed,
    }
    if not files and not skipped.count:
        result["note"] = "No Python files here. Check the path; folders such as venv, build and .git are not searched."
    return result


def entry(rank, function):
    return {
        "rank": rank,
        "file": function["file"],
        "line": function["line"],
        "name": function["name"],
        "complexity": function["complexity"],
        "rating": rating(function["complexity"]),
        "lines": function["lines"],
        # The largest share first: that is what to take apart.
        "decisions": dict(sorted(function["decisions"].items(), key=lambda d: (-d[1], d[0]))),
    }


if __name__ == "__main__":
    pyfiles.run(main)
