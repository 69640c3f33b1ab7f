"""Running a skill's script the way the server does."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PLUGIN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIXTURES = os.path.join(PLUGIN, "tests", "fixtures")


class SkillCase(unittest.TestCase):
    skill = ""
    script = ""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        # Resolved, as a temporary folder may itself be reached by a link.
        self.folder = os.path.realpath(temporary.name)

    def write(self, path, content=""):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def execute(self, *arguments):
        # The bare environment of the sandbox. The scripts themselves must not
        # leave bytecode, or it would end up in the binary.
        return subprocess.run(
            [sys.executable, self.script, *arguments],
            cwd=os.path.join(PLUGIN, "skills", self.skill), capture_output=True, timeout=60,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
        )

    def run_skill(self, *arguments):
        done = self.execute(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        result = json.loads(done.stdout.decode("utf-8"))
        self.assertIsInstance(result, dict)
        return result

    def assert_refused(self, words, *arguments):
        done = self.execute(*arguments)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, b"")
        message = done.stderr.decode()
        self.assertTrue(message.startswith("error: "), message)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertIn(words, message)


def marks(path, pattern):
    """The lines of a fixture whose trailing comment says what to expect."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = re.search(r"# expect: " + pattern + "$", line.rstrip())
            if found:
                yield number, found.groups()


class ScannerBehaviour:
    """What both scanners share: finding files, reading them and refusing bad calls."""

    def test_bad_path(self):
        self.assert_refused("does not exist", "--path", os.path.join(self.folder, "nowhere"))
        self.assert_refused("is empty", "--path", "")
        self.assert_refused("--path", *[])

    def test_unknown_flag(self):
        self.assert_refused("--pth", "--path", self.folder, "--pth", "x")

    def test_path_like_a_flag(self):
        self.assert_refused("-x does not exist", "--path=-x")

    def test_empty_folder(self):
        result = self.run_skill("--path", self.folder)
        self.assertEqual(result["summary"]["files"], 0)
        self.assertIn("No Python files", result["note"])

    def test_broken_files_are_listed(self):
        self.write("good.py", "def f(): pass\n")
        self.write("latin.py", "# -*- coding: latin-1 -*-\nx = 'ä'\n".encode("latin-1"))
        self.write("bom.py", b"\xef\xbb\xbfx = 1\r\n")
        self.write("binary.py", b"x = 1\0")
        self.write("cookie.py", b"# coding: nonsense\nx = 1\n")
        self.write("syntax.py", "x = 1\ndef f(:\n")
        self.write("utf8.py", b"x = '\xff'\n")
        self.write("huge.py", b"#" * (1 << 20) + b"\n")
        self.write("deep.py", "x = " + "-" * 50000 + "1\n")
        result = self.run_skill("--path", self.folder)
        self.assertEqual(result["summary"]["files"], 3)
        reasons = {s["file"]: s["reason"] for s in result["skipped"]}
        self.assertEqual(list(reasons), sorted(reasons))
        self.assertEqual(result["summary"]["files_skipped"], 6)
        self.assertIn("NUL", reasons["binary.py"])
        self.assertIn("encoding", reasons["cookie.py"])
        self.assertIn("syntax error at line 2", reasons["syntax.py"])
        self.assertIn("encoding", reasons["utf8.py"])
        self.assertIn("larger than 1 MiB", reasons["huge.py"])
        self.assertTrue(reasons["deep.py"])

    def test_folders_not_searched(self):
        for folder in (".git", "node_modules", "venv", "build", "dist", ".tox", "__pycache__", "x.egg-info"):
            self.write(f"{folder}/no.py")
        self.write("myenv/pyvenv.cfg")
        self.write("myenv/no.py")
        self.write("src/build/__init__.py")
        self.write("src/build/yes.py")
        self.write("setup.txt", "not python")
        self.assertEqual(self.run_skill("--path", self.folder)["summary"]["files"], 2)

    def test_folder_asked_for_is_searched(self):
        self.write("build/yes.py")
        result = self.run_skill("--path", os.path.join(self.folder, "build"))
        self.assertEqual(result["summary"]["files"], 1)

    @unittest.skipUnless(hasattr(os, "symlink") and os.name == "posix", "needs symbolic links")
    def test_links_are_not_followed(self):
        self.write("pkg/a.py")
        os.symlink(self.folder, os.path.join(self.folder, "pkg", "loop"))
        os.symlink("a.py", os.path.join(self.folder, "pkg", "b.py"))
        os.symlink("nowhere", os.path.join(self.folder, "pkg", "c.py"))
        self.assertEqual(self.run_skill("--path", self.folder)["summary"]["files"], 1)
        # The link asked for by name is another matter.
        self.assertEqual(self.run_skill("--path", os.path.join(self.folder, "pkg", "b.py"))["summary"]["files"], 1)

    @unittest.skipUnless(hasattr(os, "mkfifo"), "needs named pipes")
    def test_named_pipe_does_not_hang(self):
        os.mkfifo(os.path.join(self.folder, "pipe.py"))
        result = self.run_skill("--path", self.folder)
        self.assertIn("not a regular file", result["skipped"][0]["reason"])

    @unittest.skipUnless(sys.platform == "linux", "needs file names that are not UTF-8")
    def test_file_name_that_is_not_utf8(self):
        with open(os.fsencode(self.folder) + b"/\xff\xc3\xa4.py", "wb") as file:
            file.write(b"def f(:\n")
        result = self.run_skill("--path", self.folder)
        self.assertEqual(result["skipped"][0]["file"], "\\xffä.py")

    def test_file_without_extension(self):
        path = self.write("tool", "def f(): pass\n")
        self.assertEqual(self.run_skill("--path", path)["summary"]["files"], 1)

    def test_long_elif_chain(self):
        branches = "".join(f"    elif x == {n}: y = {n}\n" for n in range(3000))
        self.write("chain.py", "def f(x):\n    if x: pass\n" + branches)
        result = self.run_skill("--path", self.folder)
        self.assertEqual(result["summary"]["files"] + result["summary"]["files_skipped"], 1)

    def test_deep_nesting_is_no_crash(self):
        self.write("calls.py", "x = a" + "()" * 300000 + "\n")
        self.write("sum.py", "x = " + "+".join(["1"] * 300000) + "\n")
        summary = self.run_skill("--path", self.folder)["summary"]
        self.assertEqual(summary["files"] + summary["files_skipped"], 2)

    def test_output_is_stable_and_leaves_nothing_behind(self):
        first = self.execute("--path", FIXTURES).stdout
        self.assertEqual(first, self.execute("--path", FIXTURES).stdout)
        for _, folders, _ in os.walk(os.path.join(PLUGIN, "skills")):
            self.assertNotIn("__pycache__", folders)
