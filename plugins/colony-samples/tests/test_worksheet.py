import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import support


class WorksheetTest(support.SkillCase):
    skill = "scientific-debugging"
    script = "scripts/worksheet.py"

    def lay_out(self, description, *hypotheses, context=""):
        arguments = [f"--bug_description={description}", f"--context={context}"]
        if hypotheses:
            arguments.append("--hypotheses=" + json.dumps(hypotheses))
        return self.run_skill(*arguments)

    def test_sections(self):
        sheet = self.lay_out("It crashes", "the cache is stale after a restart", "the parser drops the last line")["worksheet"]
        heads = [line for line in sheet.split("\n") if line.startswith("## ")]
        self.assertEqual(heads, ["## 1. Observation", "## 2. Hypotheses", "## 3. Experiments", "## 4. Evidence",
                                 "## 5. Conclusion", "## 6. Still unknown", "## Next steps"])
        for words in ("### H1: state", "### H2: input or boundary", "Falsified by:", "| E1 | H1 |", "Regression test:"):
            self.assertIn(words, sheet)

    def test_given_hypotheses(self):
        result = self.lay_out("It crashes", "two threads write the same file", "  ", "Two threads  write the same file", "foo bar baz qux")
        self.assertEqual([(h["id"], h["statement"], h["cause"], h["source"]) for h in result["hypotheses"]], [
            ("H1", "two threads write the same file", "concurrency", "given"), ("H2", "foo bar baz qux", "other", "given")])
        self.assertEqual([(e["id"], e["tests"]) for e in result["experiments"]], [("E1", "H1"), ("E2", "H2")])
        self.assertTrue(all(h["falsified_by"] for h in result["hypotheses"]))
        self.assertEqual(result["hypotheses_are"], "given")
        self.assertEqual(len(result["alternatives_to_consider"]), 3)
        self.assertNotIn("concurrency", [a["cause"] for a in result["alternatives_to_consider"]])

    def test_prompts_are_labelled(self):
        result = self.lay_out("The total is wrong")
        self.assertEqual(result["hypotheses_are"], "prompts")
        self.assertEqual([h["cause"] for h in result["hypotheses"]],
                         ["recent change", "input or boundary", "environment", "concurrency", "state"])
        self.assertEqual({h["source"] for h in result["hypotheses"]}, {"prompt"})
        self.assertIn("These are prompts, not findings.", result["worksheet"])
        self.assertEqual(result["alternatives_to_consider"], [])

    def test_report_steers_the_prompts(self):
        result = self.lay_out("It hangs sometimes", context="memory grows; connection timeouts; at midnight in the logs")
        causes = [h["cause"] for h in result["hypotheses"]]
        self.assertEqual(len(causes), 7)
        self.assertEqual(causes[0], "concurrency")
        self.assertIn("hangs", result["hypotheses"][0]["why"])
        self.assertLessEqual({"recent change", "input or boundary", "environment", "concurrency", "state", "resources"}, set(causes))

    def test_single_and_vague_hypotheses_are_questioned(self):
        result = self.lay_out("It crashes", "something is broken in there")
        self.assertIn("vague", result["hypotheses"][0]["note"])
        self.assertTrue(any("rival" in step for step in result["next_steps"]))

    def test_unknowns(self):
        result = self.lay_out("When I click Save it shows 'error 7' instead of saving, every time since 2.3 on Linux")
        self.assertEqual(result["unknowns"], [])
        self.assertEqual(len(self.lay_out("Broken")["unknowns"]), 6)

    def test_markdown_is_escaped(self):
        description = "# not a head\n```\nlog\n````\n| a | <b>x</b>"
        result = self.lay_out(description, "1. `x` *is* [set](y) | <i>\n- twice over there", context="````")
        sheet = result["worksheet"]
        self.assertIn("`````text\n" + description + "\n`````", sheet)
        self.assertIn("`````text\n````\n`````", sheet)
        self.assertIn("# Debugging worksheet: \\# not a head", sheet)
        self.assertIn("> 1\\. \\`x\\` \\*is\\* \\[set\\](y) \\| \\<i\\>\n> \\- twice over there", sheet)
        self.assertEqual(result["observation"]["description"], description)

    def test_pasted_terminal_text_is_cleaned(self):
        result = self.lay_out("\n\x1b[31mred\x1b[0m\r\nbell\x07 \u202eabc\n\n")
        self.assertEqual(result["observation"]["description"], "red\nbell abc")

    def test_indentation_is_kept(self):
        self.assertEqual(self.lay_out("  a\n\tb")["observation"]["description"], "  a\n\tb")

    def test_unicode_without_a_locale(self):
        self.assertIn("Größe 数", self.lay_out("Größe 数 falsch")["worksheet"])

    @unittest.skipUnless(os.name == "posix", "arguments are bytes only there")
    def test_arguments_that_are_not_utf8(self):
        done = self.execute("--bug_description", b"caf\xe9 crashes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["observation"]["description"], "caf? crashes")

    def test_long_first_line_makes_a_short_title(self):
        self.assertEqual(len(self.lay_out("word " * 100)["title"]), 80)

    def test_hypotheses_without_json(self):
        for text in ("The cache is stale, a lock is held", "The cache is stale\n\na lock is held\r\n", ' ["The cache is stale", "a lock is held"]'):
            result = self.run_skill("--bug_description", "x", "--hypotheses", text)
            self.assertEqual([h["statement"] for h in result["hypotheses"]], ["The cache is stale", "a lock is held"])
        result = self.run_skill("--bug_description", "x", "--hypotheses", "a, then b\nc")
        self.assertEqual([h["statement"] for h in result["hypotheses"]], ["a, then b", "c"])

    def test_same_input_same_output(self):
        self.assertEqual(self.lay_out("It hangs", "a b c d"), self.lay_out("It hangs", "a b c d"))

    def test_defaults_may_be_passed(self):
        self.assertEqual(self.run_skill("--bug_description", "x", "--context", "", "--hypotheses", "[]"),
                         self.run_skill("--bug_description", "x"))

    def test_bad_calls(self):
        self.assert_refused("--bug_description")
        self.assert_refused("is empty", "--bug_description", " \n ")
        for value in ("[1]", "[broken", "[[]]"):
            self.assert_refused("JSON array of strings", "--bug_description", "x", "--hypotheses", value)
        self.assert_refused("at most 20", "--bug_description", "x", "--hypotheses", json.dumps([f"h {n}" for n in range(21)]))
        self.assert_refused("--unknown", "--bug_description", "x", "--unknown", "y")


if __name__ == "__main__":
    unittest.main()
