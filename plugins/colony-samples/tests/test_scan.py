import filecmp
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import support

CATEGORIES = ["bare_except", "shell_true", "mutable_default", "hardcoded_secret", "write_transaction_return", "assert_in_prod"]


class ScanTest(support.SkillCase, support.ScannerBehaviour):
    skill = "systemic-vulnerability-scan"
    script = "scripts/scan.py"

    def scan(self, source, *arguments, name="m.py"):
        return self.run_skill("--path", self.write(name, source), *arguments)

    def found(self, source, category, **options):
        return self.scan(source, **options)["categories"][category]["findings"]

    def check_fixture(self, name):
        path = os.path.join(support.FIXTURES, name)
        expected = {(line, category, severity) for line, (category, severity) in support.marks(path, r"(\w+) (\w+)")}
        result = self.run_skill("--path", path, "--max_per_category", "1000")
        actual = {(f["line"], category, f["severity"])
                  for category, part in result["categories"].items() for f in part["findings"]}
        self.assertEqual(sorted(expected - actual), [], "not found")
        self.assertEqual(sorted(actual - expected), [], "found, but should not be")
        self.assertEqual(result["summary"]["findings"], len(expected))
        return result

    def test_rules(self):
        result = self.check_fixture("scan_cases.py")
        text = str(result)
        for secret in ("hunter2", "s3cr3t", "k9f8a7", "tr0ub4dor", "opensesame", "letmein", "backdoor1", "k3y-1", "signing-material"):
            self.assertNotIn(secret, text)

    def test_transactions(self):
        self.check_fixture("transaction_cases.py")

    def test_shape(self):
        result = self.scan("try: f()\nexcept: pass\n")
        self.assertEqual(list(result["categories"]), CATEGORIES)
        for part in result["categories"].values():
            self.assertEqual(list(part), ["count", "truncated", "explanation", "remedy", "findings"])
        self.assertEqual(result["categories"]["bare_except"]["findings"], [{
            "severity": "high", "file": "m.py", "line": 2, "column": 1,
            "message": "catches everything and does nothing with it", "snippet": "except: pass",
        }])

    def test_column_counts_characters(self):
        finding = self.found('ä = "ü"; password = "hunter2"\n', "hardcoded_secret")[0]
        self.assertEqual((finding["column"], finding["snippet"]), (21, 'ä = "ü"; password = "<redacted>"'))

    def test_limit_keeps_the_worst_and_the_count(self):
        source = "import os\n" + 'os.system("ls")\n' * 5 + "os.system(x + y)\n"
        part = self.scan(source, "--max_per_category", "2")["categories"]["shell_true"]
        self.assertEqual((part["count"], part["truncated"]), (6, True))
        self.assertEqual([(f["severity"], f["line"]) for f in part["findings"]], [("high", 7), ("low", 2)])
        part = self.scan(source, "--max_per_category", "6")["categories"]["shell_true"]
        self.assertFalse(part["truncated"])

    def test_categories(self):
        source = "import os\nos.system(x)\nassert x\n"
        result = self.scan(source, "--categories", '["assert_in_prod"]')
        self.assertEqual(list(result["categories"]), ["assert_in_prod"])
        self.assertEqual(result["summary"]["by_category"], {"assert_in_prod": 1})
        self.assertEqual(list(self.scan(source, "--categories", "shell_true,bare_except")["categories"]), CATEGORIES[:2])
        self.assertEqual(list(self.scan(source, "--categories", "[]")["categories"]), CATEGORIES)

    def test_bad_calls(self):
        self.assert_refused("unknown 'typo'; known: bare_except", "--path", self.folder, "--categories", '["typo"]')
        self.assert_refused("unknown 5", "--path", self.folder, "--categories", "[5]")
        self.assert_refused("unknown ['x']", "--path", self.folder, "--categories", '[["x"]]')
        self.assert_refused("JSON array", "--path", self.folder, "--categories", "[broken")
        self.assert_refused("--max_per_category: must be", "--path", self.folder, "--max_per_category", "0")

    def test_asserts_in_tests_are_fine(self):
        for name in ("test_a.py", "a_test.py", "conftest.py", "tests/helper.py", "a/tests/b/c.py", "test/x.py", "tests.py"):
            self.write(name, "assert x\n")
        self.write("testing.py", "assert x\n")
        self.write("contest.py", "assert x\n")
        result = self.run_skill("--path", self.folder)
        files = [f["file"] for f in result["categories"]["assert_in_prod"]["findings"]]
        self.assertEqual(files, ["contest.py", "testing.py"])
        # A folder or file of tests asked for by itself is still one.
        for path in ("tests", "tests/helper.py"):
            result = self.run_skill("--path", os.path.join(self.folder, path))
            self.assertEqual(result["summary"]["findings"], 0)

    def test_folder_above_says_nothing(self):
        self.write("tests/project/a.py", "assert x\n")
        result = self.run_skill("--path", os.path.join(self.folder, "tests", "project"))
        self.assertEqual(result["summary"]["findings"], 1)

    def test_secrets_in_tests_are_low(self):
        findings = self.found('password = "hunter2"\n', "hardcoded_secret", name="test_m.py")
        self.assertEqual([f["severity"] for f in findings], ["low"])

    def test_known_formats(self):
        # Put together here, so that no scanner takes this file for a leak.
        samples = {
            "AWS": "AK" + "IAQ7ZT4R2WN6XK3MPD", "GitHub": "gh" + "p_" + "a1B2" * 9, "Slack": "xo" + "xb-" + "1234567890-" * 3,
            "Stripe": "sk" + "_live_" + "4eC39HqLyjWDarjt", "Google": "AI" + "za" + "Sy0123456789abcdefghijklmnopqrstuvw",
            "private key": "-----BEGIN RSA " + "PRIVATE KEY-----\\n" + "MIIEpAIBAAKCAQEA7v",
            "sk-": "sk" + "-proj-" + "a1B2_" * 3 + "c3D4" * 6, "API key": "sk" + "-" + "0123456789abcdef" * 2,
            "URL": "postgres://app:" + "kd83hsQ1@db/x",
        }
        for what, value in samples.items():
            with self.subTest(what):
                findings = self.found(f'x = call("{value}")\n', "hardcoded_secret")
                self.assertEqual(len(findings), 1)
                self.assertIn(what, findings[0]["message"])
                self.assertEqual(findings[0]["snippet"], 'x = call("<redacted>")')
        for value in ("postgres://user:password@host/db", "https://host/x", "redis://user:${PASS}@host", "-----BEGIN " + "PRIVATE KEY-----",
                      "sk" + "-fading-circle-of-some-length", "sk" + "-" + "x" * 30, "task-0123456789abcdef0123", "sk-" * 20000):
            self.assertEqual(self.found(f'x = "{value}"\n', "hardcoded_secret"), [], value)

    def test_secret_in_f_string(self):
        findings = self.found('x = f"postgres://app:' + 'kd83hsQ1@{host}/db{n}"\n', "hardcoded_secret")
        self.assertEqual(findings, [], "the host is not part of the literal")
        findings = self.found('x = f"postgres://app:' + 'kd83hsQ1@db/{name}"\n', "hardcoded_secret")
        self.assertEqual([f["snippet"] for f in findings], ['x = "<redacted>"'])

    def test_secrets_are_blotted_out_everywhere(self):
        sources = {
            "other category": 'import os\nos.system("x " + y, password="hunter2")\n',
            "same text elsewhere": 'password = "hunter2"\nimport os\nos.system("mysql -phunter2 " + x)\n',
            "two on a line": 'f(password="hunter2", api_key="hunter2hunter2")\n',
            "escapes": 'password = "\\x68unter2"\n',
            "several lines": 'password = ("hunter2"\n    "hunter2"); assert x\n',
            "before non-ASCII": 'password = "hunter2"; y = "ä"; assert y\n',
            "in a default": 'def f(a=[], password="hunter2"): return a\n',
        }
        for what, source in sources.items():
            with self.subTest(what):
                for arguments in ((), ("--categories", '["shell_true", "mutable_default", "assert_in_prod"]')):
                    text = str(self.scan(source, *arguments))
                    self.assertNotIn("hunter2", text)
                    self.assertNotIn("unter2", text)

    def test_long_lines_are_cut(self):
        finding = self.found("assert x" + " + x" * 200 + "\n", "assert_in_prod")[0]
        self.assertEqual(len(finding["snippet"]), 160)

    def test_form_feed_does_not_shift_lines(self):
        finding = self.found("x = 1\n\x0c\ny = '\\u2028\u2028'\nassert z\n", "assert_in_prod")[0]
        self.assertEqual((finding["line"], finding["snippet"]), (4, "assert z"))

    def test_value_of_many_words_ends_quickly(self):
        self.scan('password = "' + "usernamechangemetesting" * 2000 + '!"\n' + 'password = "' + "x" * 60 + 'abc!"\n')


class CopiesTest(unittest.TestCase):
    def test_shared_file_is_the_same_in_both_skills(self):
        copies = [os.path.join(support.PLUGIN, "skills", skill, "scripts", "pyfiles.py")
                  for skill in ("code-complexity", "systemic-vulnerability-scan")]
        self.assertTrue(filecmp.cmp(*copies, shallow=False), "copy pyfiles.py from one skill to the other")


if __name__ == "__main__":
    unittest.main()
