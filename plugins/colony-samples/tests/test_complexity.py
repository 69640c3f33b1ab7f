import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import support


class ComplexityTest(support.SkillCase, support.ScannerBehaviour):
    skill = "code-complexity"
    script = "scripts/complexity.py"

    def measure(self, source, *arguments):
        return self.run_skill("--path", self.write("m.py", source), "--threshold", "1", *arguments)

    def test_every_construct(self):
        path = os.path.join(support.FIXTURES, "complexity_cases.py")
        expected = {line: int(number) for line, (number,) in support.marks(path, r"(\d+)")}
        result = self.run_skill("--path", path, "--threshold", "1", "--top_n", "1000")
        self.assertEqual({f["line"]: f["complexity"] for f in result["functions"]}, expected)
        self.assertEqual(len(expected), 27)
        for function in result["functions"]:
            self.assertEqual(function["complexity"], 1 + sum(function["decisions"].values()))

    def test_names_are_qualified(self):
        path = os.path.join(support.FIXTURES, "complexity_cases.py")
        result = self.run_skill("--path", path, "--threshold", "1", "--top_n", "1000")
        names = {f["name"] for f in result["functions"]}
        self.assertLessEqual({
            "straight", "outer", "outer.<locals>.inner", "outer.<locals>.inner.<locals>.innermost", "Outer.__init__",
            "Outer.prop", "Outer.Inner.method", "class_inside.<locals>.Local.method", "conditional",
        }, names)

    @unittest.skipIf(sys.version_info < (3, 11), "except* is newer")
    def test_except_star(self):
        result = self.measure("def f():\n    try: g()\n    except* ValueError: pass\n    except* TypeError: pass\n")
        self.assertEqual(result["functions"][0]["complexity"], 3)

    def test_line_is_the_def_line(self):
        result = self.measure("@a\n@b\ndef f():\n    pass\n")
        self.assertEqual((result["functions"][0]["line"], result["functions"][0]["lines"]), (3, 2))

    def test_threshold_is_inclusive_and_top_n_cuts(self):
        source = "".join(f"def f{n}(x):\n" + "    if x: pass\n" * n for n in range(1, 8))
        path = self.write("m.py", source)
        result = self.run_skill("--path", path)
        self.assertEqual([f["complexity"] for f in result["functions"]], [8, 7, 6, 5])
        result = self.run_skill("--path", path, "--threshold", "6", "--top_n", "2")
        self.assertEqual([(f["rank"], f["name"]) for f in result["functions"]], [(1, "f7"), (2, "f6")])
        self.assertEqual(result["summary"], {
            "files": 1, "files_skipped": 0, "functions": 7, "average_complexity": 5.0, "max_complexity": 8,
            "at_or_above_threshold": 3, "listed": 2, "ratings": {"A": 4, "B": 3, "C": 0, "D": 0, "E": 0, "F": 0},
        })

    def test_ratings(self):
        edges = {1: "A", 5: "A", 6: "B", 10: "B", 11: "C", 20: "C", 21: "D", 30: "D", 31: "E", 40: "E", 41: "F"}
        source = "".join(f"def f{n}(x):\n" + "    if x: pass\n" * (n - 1) + "    pass\n" for n in edges)
        result = self.measure(source)
        self.assertEqual({f["complexity"]: f["rating"] for f in result["functions"]}, edges)

    def test_ties_are_ordered_by_file_and_line(self):
        for name in ("b.py", "a/z.py", "a.py"):
            self.write(name, "def g(): pass\ndef f(): pass\n")
        result = self.run_skill("--path", self.folder, "--threshold", "1")
        self.assertEqual([(f["file"], f["line"]) for f in result["functions"]],
                         [(name, line) for name in ("a.py", "a/z.py", "b.py") for line in (1, 2)])

    def test_bad_numbers(self):
        for value in ("0", "-1", "1.5", "many", "", "nan", "inf"):
            self.assert_refused("--threshold: must be a whole number of 1 or more", "--path", self.folder, f"--threshold={value}")
        self.assert_refused("--top_n", "--path", self.folder, "--top_n", "0")
        self.run_skill("--path", self.folder, "--threshold", "5.0")

    def test_no_functions(self):
        summary = self.measure("x = 1 if 2 else 3\n")["summary"]
        self.assertEqual((summary["functions"], summary["average_complexity"], summary["max_complexity"]), (0, 0, 0))


if __name__ == "__main__":
    unittest.main()
