package infer

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder returns a file system of names and texts.
func folder(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

const (
	pythonLine = "#!/usr/bin/env python3\n"
	guard      = "def main(): pass\n\nif __name__ == '__main__':\n    main()\n"
)

func paths(found Found) string {
	var all []string
	for _, script := range found.Scripts {
		all = append(all, script.Path)
	}
	return strings.Join(all, " ")
}

func TestWhatIsAnEntryPoint(t *testing.T) {
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"nothing":                    {folder("SKILL.md", "# A\n"), ""},
		"first line":                 {folder("a.py", pythonLine), "a.py"},
		"first line after a mark":    {folder("a.py", "\ufeff"+pythonLine), "a.py"},
		"main guard":                 {folder("a.py", guard), "a.py"},
		"main guard turned round":    {folder("a.py", `if "__main__" == __name__: pass`), "a.py"},
		"main guard, Windows":        {folder("a.py", strings.ReplaceAll(guard, "\n", "\r\n")), "a.py"},
		"main guard in a function":   {folder("a.py", "def f():\n    if __name__ == '__main__': pass\n"), ""},
		"module":                     {folder("a.py", "import os\n"), ""},
		"node":                       {folder("a.js", "if (require.main === module) run()", "b.mjs", "if (import.meta.url === `file://${process.argv[1]}`) {}", "c.cjs", "module.exports = 1"), "a.js b.mjs"},
		"shell":                      {folder("a.sh", "#!/bin/sh\n", "b.sh", "if [[ \"${BASH_SOURCE[0]}\" == \"${0}\" ]]; then main; fi\n", "lib.sh", "f() { :; }\n"), "a.sh b.sh"},
		"no extension":               {folder("run", "#!/bin/sh\n", "LICENSE", "MIT"), "run"},
		"another language":           {folder("a.rb", "#!/usr/bin/env ruby\n", "b.rb", "puts 1\n"), "a.rb"},
		"tests":                      {folder("test_a.py", pythonLine, "a_test.py", pythonLine, "a.test.js", "#!/usr/bin/node\n", "conftest.py", pythonLine, "__init__.py", pythonLine, "setup.py", pythonLine+"import setuptools\n", "tests/a.py", pythonLine, "x/node_modules/a.js", "#!/usr/bin/node\n", ".git/hooks/a", "#!/bin/sh\n"), ""},
		"a name like a test's":       {folder("latest.py", pythonLine, "contest/a.py", pythonLine), "contest/a.py latest.py"},
		"another skill below":        {folder("a.py", pythonLine, "sub/skill.md", "# B\n", "sub/b.py", pythonLine), "a.py"},
		"binary":                     {folder("a", "#!/bin/sh\n\x00\x01"), ""},
		"documents are not opened":   {folder("a.md", pythonLine, "b.txt", pythonLine), ""},
		"a link is not followed":     {fstest.MapFS{"a.py": {Data: []byte("b.py"), Mode: fs.ModeSymlink | 0o777}, "b.py": {Data: []byte(pythonLine)}}, "b.py"},
		"scripts/ before the others": {folder("a.py", pythonLine, "scripts/z.py", pythonLine, "bin/b.py", pythonLine), "scripts/z.py a.py bin/b.py"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := paths(Find(test.files, "", nil)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestEntryPointsOfRealSkills(t *testing.T) {
	const node, bash = "#!/usr/bin/env node\n", "#!/bin/bash\n"
	for name, test := range map[string]struct {
		instructions string
		files        fstest.MapFS
		want         string
	}{
		"declarations of TypeScript":   {"", folder("a.d.ts", node+"export {}\n", "a.js", node), "a.js"},
		"TypeScript beside its build":  {"", folder("a.ts", node, "a.js", node, "b.ts", node), "a.js b.ts"},
		"TypeScript built elsewhere":   {"", folder("src/a.ts", node, "dist/a.js", node, "tools/b.ts", node, "tools/dist/b.mjs", node), "dist/a.js tools/dist/b.mjs"},
		"definitions, Python":          {"", folder("a.py", pythonLine+"import os\n\nX = 1\n\ndef f():\n    return X\n"), ""},
		"a guard that raises":          {"", folder("a.py", "def f(): pass\nif __name__ == '__main__':\n    raise SystemExit('import me')\n"), ""},
		"a guard that prints":          {"", folder("a.py", pythonLine+"def f(): pass\nif __name__ == '__main__':\n    print('import me')\n    sys.exit(1)\n"), ""},
		"a guard that prints what ran": {"", folder("a.py", "def f(): pass\nif __name__ == '__main__':\n    print(f())\n"), "a.py"},
		"a guard that exits with main": {"", folder("a.py", "def main(): pass\nif __name__ == '__main__':\n    raise SystemExit(main())\n"), "a.py"},
		"a self-test beside the work":  {"", folder("a.py", "import sys, unittest\ndef main(): go()\nif __name__ == '__main__':\n    if '--self-test' in sys.argv:\n        unittest.main()\n    else:\n        main()\n"), "a.py"},
		"tests of the project":         {"", folder("a.py", "import pytest, sys\ndef main():\n    return pytest.main(sys.argv[1:])\nif __name__ == '__main__':\n    sys.exit(main())\n"), "a.py"},
		"a guard of doctests":          {"", folder("a.py", "def f(): return 1\nif __name__ == '__main__':\n    import doctest\n    doctest.testmod()\n"), ""},
		"tests that are run":           {"python3 a.py", folder("a.py", "import unittest\nclass T(unittest.TestCase): pass\nif __name__ == '__main__':\n    unittest.main(\n    )\n"), "a.py"},
		"a guard of tests":             {"", folder("a.py", "import unittest\nif __name__ == '__main__':\n    unittest.main()\n"), ""},
		"no definitions":               {"", folder("a.py", pythonLine+"print('hello')\n", "b.sh", bash+"echo hello\n"), "a.py b.sh"},
		"definitions, shell":           {"", folder("a.sh", bash+"set -e\nlog() {\n  echo \"$1\"\n}\n"), ""},
		"to be sourced":                {"", folder("a.sh", bash+"f() { :; }\nif [[ \"${BASH_SOURCE[0]}\" == \"$0\" ]]; then\n  echo \"source $0\"; exit 1\nfi\n"), ""},
		"sourced":                      {"", folder("a.sh", bash+"source \"$(dirname \"$0\")/b.sh\"\ngo\n", "b.sh", bash+"cd /\n"), "a.sh"},
		"sourced, and run":             {"Run `bash scripts/b.sh`.", folder("scripts/a.sh", bash+". ./b.sh\n", "scripts/b.sh", bash+"cd /\n"), "scripts/b.sh scripts/a.sh"},
		"required":                     {"", folder("a.js", node+"const b = require('./lib/b')\n", "lib/b.js", node), "a.js"},
		"imported":                     {"", folder("a.mjs", node+"import b from \"./b.mjs\"\n", "b.mjs", node, "c.mjs", node), "a.mjs c.mjs"},
		"imported, Python":             {"", folder("scripts/a.py", pythonLine+"from b import x\nimport lib.c as c\nfrom . import d\ngo()\n", "scripts/b.py", pythonLine+"go()\n", "lib/c.py", guard, "scripts/d.py", guard, "scripts/json.py", pythonLine+"go()\n"), "scripts/a.py scripts/json.py"},
		"imported, and a program":      {"", folder("a.py", pythonLine+"from b import x\ngo()\n", "b.py", "import sys\n"+guard+"    print(sys.argv)\n"), "a.py b.py"},
		"imported, and named":          {"See `scripts/b.py`.", folder("scripts/a.py", pythonLine+"from b import x\ngo()\n", "scripts/b.py", guard), "scripts/b.py scripts/a.py"},
		"imported, and run":            {"python scripts/b.py", folder("scripts/a.py", pythonLine+"from scripts.b import x\ngo()\n", "scripts/b.py", "go()\n"), "scripts/b.py scripts/a.py"},
		"to copy":                      {"See `assets/a.py` and templates/b.sh:\n\n    assets/a.py  an example\n", folder("assets/a.py", guard, "templates/x/b.sh", bash+"go\n", "examples/c.js", node+"go()\n", "x.py", guard), "x.py"},
		"to copy, and run":             {"```\npython assets/a.py\n$ ./templates/b.sh x\n\"${CLAUDE_SKILL_DIR}/assets/c.sh\" y\n```\nThen run `examples/d.sh`, or execute the script assets/e.sh.", folder("assets/a.py", guard, "templates/b.sh", bash+"go\n", "assets/c.sh", bash+"go\n", "examples/d.sh", bash+"go\n", "assets/e.sh", bash+"go\n"), "assets/a.py templates/b.sh assets/c.sh examples/d.sh assets/e.sh"},
		"test runners":                 {"`run_tests.sh` and test.py are tests.", folder("run_tests.sh", bash+"go\n", "test.py", guard, "scripts/run-all-tests.sh", bash+"go\n", "tests.sh", bash+"go\n", "testimony.py", guard, "fastest.py", guard), "fastest.py testimony.py"},
		"a test runner that is run":    {"Use `./scripts/run_tests.sh`.", folder("scripts/run_tests.sh", bash+"go\n"), "scripts/run_tests.sh"},
		"fixtures":                     {"", folder("fixtures/a.py", pythonLine, "x/__fixtures__/a.js", node, "test-a.sh", bash), ""},
		"Node that is run":             {"```\nnode scripts/a.js --x\n```\nSee scripts/b.js.", folder("scripts/a.js", "go()\n", "scripts/b.js", "module.exports = 1\n"), "scripts/a.js"},
		"run with options":             {"node --no-warnings \"${CLAUDE_SKILL_DIR}/scripts/a.mjs\" or `uv run --with pandas scripts/b.py`", folder("scripts/a.mjs", "go()\n", "scripts/b.py", "go()\n"), "scripts/a.mjs scripts/b.py"},
		"run, and only definitions":    {"python3 a.py", folder("a.py", "def f(): pass\n"), ""},
		"a module that is run":         {"python3 -m pytest a.py", folder("a.py", "go()\n"), ""},
		"TypeScript that is run":       {"node scripts/a.ts, or npx tsx b.mts", folder("scripts/a.ts", "go()\n", "b.mts", "go()\n", "c.ts", "go()\n"), "scripts/a.ts b.mts"},
		"a test that is run":           {"python ab_test.py", folder("ab_test.py", pythonLine), "ab_test.py"},
		"setup.py of no package":       {"", folder("scripts/setup.py", pythonLine+"go()\n", "setup.py", pythonLine+"from setuptools import setup\nsetup()\n"), "scripts/setup.py"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := paths(Find(test.files, test.instructions, nil)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestNamedComeFirst(t *testing.T) {
	files := folder("scripts/a.py", pythonLine, "scripts/b.py", pythonLine, "scripts/sub/c.py", pythonLine, "scripts/run", "#!/bin/sh\n", "other/b.py", pythonLine)
	for text, want := range map[string]string{
		"":                                     "",
		"Use `python scripts/b.py --x`.":       "scripts/b.py",
		"${CLAUDE_SKILL_DIR}/scripts/b.py":     "scripts/b.py",
		"./scripts/b.py":                       "scripts/b.py",
		"cd scripts && ./b.py":                 "other/b.py scripts/b.py",
		"First c.py.\nThen scripts/a.py.":      "scripts/sub/c.py scripts/a.py",
		"in scripts: sub/c.py":                 "scripts/sub/c.py",
		"another/c.py":                         "",
		"not xscripts/a.py nor scripts/a.pyc":  "",
		"run it":                               "",
		"scripts/run it":                       "scripts/run",
		"[a](scripts/a.py), **scripts/b.py**.": "scripts/a.py scripts/b.py",
	} {
		var got []string
		for _, script := range Find(files, text, nil).Scripts {
			if script.Named {
				got = append(got, script.Path)
			} else if len(got) == 0 && want != "" {
				t.Errorf("%q: %s comes before those named", text, script.Path)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q names %q, want %q", text, s, want)
		}
	}
}

func TestLimit(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 20 {
		files[fmt.Sprintf("s%02d.py", i)] = &fstest.MapFile{Data: []byte(pythonLine)}
	}
	found := Find(files, "see s19.py", nil)
	if len(found.Scripts) != maxScripts || found.Scripts[0].Path != "s19.py" || strings.Join(found.Rest, " ") != "s15.py s16.py s17.py s18.py" || found.Incomplete {
		t.Errorf("%s, rest %v", paths(found), found.Rest)
	}
}

// However much a folder holds, only so much of it is read.
func TestBounds(t *testing.T) {
	for name, fill := range map[string]func(fstest.MapFS){
		"files": func(files fstest.MapFS) {
			for i := range maxFiles + 1 {
				files[fmt.Sprintf("%05d.txt", i)] = &fstest.MapFile{}
			}
		},
		"bytes": func(files fstest.MapFS) {
			text := []byte(pythonLine + strings.Repeat("#\n", maxHead))
			for i := range maxBytes/maxHead + 2 {
				files[fmt.Sprintf("%05d.py", i)] = &fstest.MapFile{Data: text}
			}
		},
		"depth": func(files fstest.MapFS) {
			files[strings.Repeat("d/", maxDepth+1)+"a.py"] = &fstest.MapFile{Data: []byte(pythonLine)}
		},
	} {
		files := fstest.MapFS{}
		fill(files)
		files["zzz.py"] = &fstest.MapFile{Data: []byte(pythonLine)}
		found := Find(files, "", nil)
		if !found.Incomplete {
			t.Errorf("%s: nothing says that not all was read", name)
		}
		if last := slices.Contains(append(strings.Fields(paths(found)), found.Rest...), "zzz.py"); last != (name == "depth") {
			t.Errorf("%s: the last file was read: %v", name, last)
		}
	}
}

func TestScript(t *testing.T) {
	found := Find(folder("scripts/make-report.py", pythonLine+`"""Make a report."""`+"\nname = input('Name? ')\n"), "scripts/make-report.py", nil)
	want := []Script{{Path: "scripts/make-report.py", Name: "make_report", Kind: Python, Interpreter: []string{"python3"}, Doc: "Make a report.", Named: true, Prompts: true}}
	if diff := cmp.Diff(want, found.Scripts); diff != "" {
		t.Error(diff)
	}
}

func TestPrompts(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"a.py", "x = input('y/n')", true},
		{"a.py", "x = getpass.getpass()", true},
		{"a.py", "# x = input('y/n')", false},
		{"a.py", "user_input('y/n')\nself.input()\ndef input(x): pass\nread -p", false},
		{"a.sh", "read -p 'y/n' answer", true},
		{"a.sh", "if true; then read -r -p 'y/n' answer; fi", true},
		{"a.sh", "read -t 5 -rp 'y/n' answer", true},
		{"a.sh", "while read -r line; do :; done", false},
		{"a.sh", "thread -p 4\n  # read -p", false},
		{"a.py", "import sys\nif sys.stdin.isatty():\n    x = input('y/n')", false},
		{"a.py", "class A:\n    def f(self):\n        try:\n            return [input() for _ in x]\n        finally: pass\nA().f()", true},
		{"a.sh", "[ -t 0 ] && read -p 'y/n' answer", false},
		{"a.sh", "select x in a b; do break; done", true},
		{"a.js", "const readline = require('node:readline')\nrl.question('y/n', f)", true},
		{"a.js", "import inquirer from 'inquirer';\nawait inquirer.prompt([])", true},
		{"a.js", "const readline = require('readline'); for await (const line of readline.createInterface({ input: process.stdin })) f(line)", false},
		{"a.js", "data.question('y/n')\nprompt(model)", false},
		{"a.js", "import { input } from '@inquirer/prompts'\nawait prompts(x)", true},
		{"a.js", "// rl.question('y/n', f)\nquestions()", false},
	} {
		first := map[string]string{".py": pythonLine, ".sh": "#!/bin/bash\n", ".js": "#!/usr/bin/env node\n"}[test.name[1:]]
		found := Find(folder(test.name, first+test.text+"\n"), "", nil)
		if len(found.Scripts) != 1 || found.Scripts[0].Prompts != test.want {
			t.Errorf("%s %q: %+v, want %v", test.name, test.text, found.Scripts, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 60) + ".py"
	for _, test := range []struct{ paths, want string }{
		{"scripts/make-report.py", "make_report"},
		{"scripts/Make Report.v2.py", "make_report_v2"},
		{"a/run.py b/run.sh c.py", "run_py run_sh c"},
		{"a/run.py b/run.py", "a_run b_run"},
		{"a/run.py a-run.py a/run.sh", "run_py a_run run_sh"},
		{"run_py.sh run.py run.sh", "run_py_sh run run_sh"},
		{"a/run.py a/run.sh b/run.py b/run.sh", "a_run_py a_run_sh b_run_py b_run_sh"},
		{"日本.py", "py"},
		{long, strings.Repeat("x", 31) + "_4886c240"},
	} {
		given := strings.Split(test.paths, " ")
		if strings.Contains(test.paths, "Make Report") {
			given = []string{test.paths}
		}
		if got := strings.Join(Names(given), " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.paths, got, test.want)
		}
	}
}
