"""Finding and parsing Python files, and the command line both scanners share.

Only a skill's own folder is visible while it runs, so code-complexity and
systemic-vulnerability-scan each carry this file. The two copies are the same;
a test holds them together.
"""

import argparse
import ast
import concurrent.futures
import io
import json
import os
import re
import stat
import sys
import threading
import tokenize
import warnings

# Larger files are generated data in practice. A syntax tree takes about a
# hundred times the memory of its source, so one such file could end the run.
MAX_FILE_BYTES = 1 << 20

MAX_SKIPPED_LISTED = 100
PROGRESS_EVERY = 500

# Never a person's own source, whatever they contain.
SKIPPED_DIRS = frozenset({
    ".git", ".hg", ".svn", ".bzr", "__pycache__", "__pypackages__", "node_modules",
    "site-packages", "dist-packages", ".venv", ".virtualenv", ".tox", ".nox", ".eggs",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".cache", ".direnv", ".pixi",
    ".ipynb_checkpoints",
})

# Usually a virtual environment or build output, but also names of real
# packages (the standard library has "venv", PyPI has "build"): these are
# skipped unless they are packages.
SKIPPED_UNLESS_PACKAGE = frozenset({"venv", "env", "ENV", "virtualenv", "build", "dist", "_build"})


class Unusable(Exception):
    """A file that cannot be analysed; the message says why."""


class Skipped:
    """Files left out, with reasons: all are counted, the first ones listed."""

    def __init__(self):
        self.count = 0
        self.listed = []

    def add(self, path, reason):
        self.count += 1
        if len(self.listed) < MAX_SKIPPED_LISTED:
            self.listed.append({"file": path, "reason": reason})


def printable(path):
    """A path as text that is always valid UTF-8, with forward slashes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace").replace(os.sep, "/")


def run(main):
    """Run main where a deeply nested file is an error and not a crash."""
    if sys.version_info >= (3, 11):
        main()
        return
    # Python 3.10 builds syntax trees without watching the stack: a chain of
    # 100,000 calls in one line overruns the usual 8 MiB. 256 MiB hold the
    # deepest tree that MAX_FILE_BYTES allow.
    threading.stack_size(256 << 20)
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(main).result()


def python_files(root, skipped):
    """Yield (path to open, path to show) for each Python file, in sorted order.

    A file given directly is taken whatever its name is. Below a folder, links
    are not followed: nothing is counted twice and a loop cannot trap the walk.
    """
    if not os.path.isdir(root):
        yield root, printable(os.path.basename(root))
        return
    pending = [root]
    while pending:
        folder = pending.pop()
        shown = "" if folder == root else printable(os.path.relpath(folder, root)) + "/"
        try:
            with os.scandir(folder) as entries:
                entries = sorted(entries, key=lambda entry: entry.name)
        except OSError as err:
            skipped.add(shown or ".", "folder cannot be read: " + (err.strerror or str(err)))
            continue
        below = []
        for entry in entries:
            if entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                if not is_foreign(entry):
                    below.append(entry.path)
            elif entry.name.endswith((".py", ".pyw")):
                yield entry.path, shown + printable(entry.name)
        pending.extend(reversed(below))


def is_foreign(folder):
    """Whether a folder holds other people's or generated code."""
    if folder.name in SKIPPED_DIRS or folder.name.endswith((".egg-info", ".dist-info")):
        return True
    if folder.name in SKIPPED_UNLESS_PACKAGE:
        return not os.path.isfile(os.path.join(folder.path, "__init__.py"))
    return any(os.path.exists(os.path.join(folder.path, mark)) for mark in ("pyvenv.cfg", "conda-meta"))


def parse(path):
    """Return the syntax tree and the source text, or raise Unusable."""
    try:
        text = decode(read(path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # dubious escapes are not our subject
            return ast.parse(text), text
    except OSError as err:
        raise Unusable("cannot be read: " + (err.strerror or str(err))) from None
    except SyntaxError as err:
        where = f" at line {err.lineno}" if err.lineno else ""
        version = "{}.{}".format(*sys.version_info)
        raise Unusable(f"syntax error{where}: {err.msg} (read as Python {version})") from None
    except (RecursionError, MemoryError):
        raise Unusable("nested too deeply to parse") from None
    except ValueError as err:
        raise Unusable(f"cannot be parsed: {err}") from None


def read(path):
    # Without O_NONBLOCK, opening a named pipe would wait for ever.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unusable("not a regular file")
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Unusable(f"larger than {MAX_FILE_BYTES >> 20} MiB")
    if b"\0" in data:
        raise Unusable("contains NUL bytes: binary, or UTF-16")
    return data


def decode(data):
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except SyntaxError as err:
        raise Unusable(f"bad encoding: {err.msg}") from None
    except UnicodeDecodeError as err:
        raise Unusable(f"bad encoding: byte {err.start} is not valid {err.encoding}") from None
    except LookupError:
        raise Unusable("bad encoding: the declared one is not a text encoding") from None


def split_lines(text):
    """The lines as the parser counts them; str.splitlines breaks at more places."""
    return re.split(r"\r\n|\r|\n", text)


class Arguments(argparse.ArgumentParser):
    """Flags only; a mistake ends the run with exit code 2 and one sentence."""

    def __init__(self, description):
        super().__init__(description=description, allow_abbrev=False)
        self.add_argument("--path", required=True, type=existing_path, help="Python file or folder")

    def error(self, message):
        fail(message)


def fail(message):
    sys.stderr.write(f"error: {message}\n")
    sys.exit(2)


def existing_path(text):
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty; give a Python file or a folder")
    path = os.path.abspath(text)
    if not os.path.exists(path):
        raise argparse.ArgumentTypeError(
            f"{printable(text)} does not exist; give a Python file or a folder inside the workspace")
    if os.path.isdir(path) and not os.access(path, os.R_OK | os.X_OK):
        raise argparse.ArgumentTypeError(f"{printable(text)} cannot be read; check its permissions")
    return path


def whole_number(text):
    """A whole number of 1 or more. "5.0" counts: JSON has one kind of number."""
    try:
        number = float(text)
        if number.is_integer() and number >= 1:
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise argparse.ArgumentTypeError(f"must be a whole number of 1 or more, not {text!r}")


def progress(done):
    if done % PROGRESS_EVERY == 0:
        sys.stderr.write(f"{done} files read\n")
        sys.stderr.flush()


def emit(result):
    # Written as bytes: the locale of a bare container may not be UTF-8.
    text = json.dumps(result, ensure_ascii=False, indent=1)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
