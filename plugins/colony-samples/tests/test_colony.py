"""The skills as Colony runs them, and with the arguments that its own have."""

import os
import shlex
import shutil
import subprocess
import unittest

import support

CALLS = {
    "code-complexity": "--path . --threshold 1 --top_n 2",
    "systemic-vulnerability-scan": "--path . --max_per_category 1 --categories bare_except,shell_true",
    "scientific-debugging": "--bug_description 'It hangs.' --context 'since Tuesday' --hypotheses 'a lock is held, the disk is full'",
}


@unittest.skipUnless(shutil.which("bash"), "needs bash")
class Colony(unittest.TestCase):
    def test_calls(self):
        for skill, arguments in CALLS.items():
            folder = os.path.join(support.PLUGIN, "skills", skill)
            with open(os.path.join(folder, "SKILL.md"), encoding="utf-8") as file:
                self.assertIn("\nscript: scripts/run.sh\n", file.read())
            done = subprocess.run(["bash", "-c", f"cd {shlex.quote(folder)} && bash scripts/run.sh {arguments}"], capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr[:200]), (0, b""), skill)
            self.assertTrue(done.stdout.startswith(b"{"), skill)


if __name__ == "__main__":
    unittest.main()
