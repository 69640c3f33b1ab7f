package python

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// call runs a function of tools.py with the other files beside it.
func call(t *testing.T, files map[string]string, function, args string) (stdout, stderr string, err error) {
	t.Helper()
	return callIn(t, files, "tools.py", function, args)
}

// callIn runs a function of one of the files.
func callIn(t *testing.T, files map[string]string, file, function, args string) (stdout, stderr string, err error) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" {
			t.Fatal("python3 is missing")
		}
		t.Skip("python3 is missing")
	}
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	argv := append(FunctionInterpreter(), file, function)
	argv = slices.Insert(argv, 1, "-S") // without this machine's site packages
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1"}
	cmd.Stdin = strings.NewReader(args)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err = cmd.Run()
	return out.String(), log.String(), err
}

// installed is as much of langchain_core as matters here: a decorator that makes
// an object which cannot be called.
const installed = `
class StructuredTool:
    def __init__(self, name, func):
        self.name, self.func = name, func
    def invoke(self, arguments):
        return self.func(**arguments)

def tool(first, *rest):
    if callable(first):
        return StructuredTool(first.__name__, first)
    return lambda func: StructuredTool(first, func)
`

func TestCall(t *testing.T) {
	for _, test := range []struct{ name, source, function, args, want string }{
		{"text", "def f(a, b=2):\n    return a * b\n", "f", `{"a": "xy"}`, "xyxy\n"},
		{"a value", "def f(n: int):\n    return {'n': n, 'ö': [True, None]}\n", "f", `{"n": 3}`, "{\"n\": 3, \"ö\": [true, null]}\n"},
		{"nothing", "def f():\n    pass\n", "f", `{}`, ""},
		{"a value that JSON does not know", "import datetime\ndef f():\n    return datetime.date(2026, 1, 2)\n", "f", `{}`, "\"2026-01-02\"\n"},
		{"asynchronous", "async def f(a):\n    return a\n", "f", `{"a": "x"}`, "x\n"},
		{"any keywords", "def f(**kw):\n    return sorted(kw)\n", "f", `{"b": 1, "a": 2}`, "[\"a\", \"b\"]\n"},
		{"bare decorator", "from langchain_core.tools import tool\n@tool\ndef f(a):\n    '''Doc.'''\n    return a\n", "f", `{"a": "x"}`, "x\n"},
		{"decorator with arguments", "from langchain.tools import tool\n@tool('other', return_direct=True)\ndef f(a):\n    return a\n", "f", `{"a": "x"}`, "x\n"},
		{"old place of the decorator", "from langchain.agents import tool\n@tool\ndef f(a):\n    return a\n", "f", `{"a": "x"}`, "x\n"},
		{"a class beside it, which nobody calls", "from langchain_core.tools import tool, BaseTool\n@tool\ndef f(a):\n    return a\n", "f", `{"a": "x"}`, "x\n"},
		{"a class", "from typing import Optional\nfrom langchain_core.tools import BaseTool\nfrom langchain_core.callbacks import CallbackManagerForToolRun\nclass F(BaseTool):\n    name: str = 'f'\n    unit: str = 'm'\n    def _run(self, a: int, run_manager: Optional[CallbackManagerForToolRun] = None) -> str:\n        return f'{a} {self.unit} {self.name}'\n", "F", `{"a": 2}`, "2 m f\n"},
		{"a class with a model", "import enum\nfrom typing import Type, List\nfrom langchain.tools import BaseTool\nfrom pydantic import BaseModel, Field\nclass Mode(enum.Enum):\n    fast = 'fast'\nclass Point(BaseModel):\n    x: int\nclass In(BaseModel):\n    a: str = Field(description='d')\n    n: int = Field(default=3, ge=1)\n    tags: List[str] = Field(default_factory=list)\n    mode: Mode = Mode.fast\n    at: Point = None\nclass F(BaseTool):\n    name: str = 'f'\n    args_schema: Type[BaseModel] = In\n    def _run(self, a, n, tags, mode, at):\n        return [a, n, tags, mode.name, at.x]\n", "F", `{"a": "x", "mode": "fast", "at": {"x": 5}}`, "[\"x\", 3, [], \"fast\", 5]\n"},
		{"an asynchronous class", "from langchain_core.tools.base import BaseTool\nclass F(BaseTool):\n    def _run(self, a):\n        raise NotImplementedError\n    async def _arun(self, a):\n        return a\n", "F", `{"a": "x"}`, "x\n"},
		{"a class with its own __init__", "from langchain_core.tools import BaseTool\nclass F(BaseTool):\n    text: str = ''\n    def __init__(self, **kw):\n        super().__init__(**kw)\n        self.text = 'made'\n    def _run(self):\n        return self.text\n", "F", `{}`, "made\n"},
		{"a tool made of a function", "from langchain_core.tools import StructuredTool\ndef g(a):\n    return a\nf = StructuredTool.from_function(func=g, name='f', description='d')\n", "f", `{"a": "x"}`, "x\n"},
		{"a file beside it", "import helper\ndef f():\n    return helper.text\n", "f", `{}`, "from beside\n"},
		{"the main guard is shut", "def f():\n    return 'f'\nif __name__ == '__main__':\n    print('main')\n", "f", `{}`, "f\n"},
		{"data classes", "from __future__ import annotations\nimport dataclasses\n@dataclasses.dataclass\nclass C:\n    a: int\ndef f():\n    return C(1).a\n", "f", `{}`, "1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, err := call(t, map[string]string{"tools.py": test.source, "helper.py": "text = 'from beside'\n"}, test.function, test.args)
			if err != nil || stdout != test.want {
				t.Errorf("%q, want %q; %v\n%s", stdout, test.want, err, stderr)
			}
		})
	}
}

// With LangChain itself the decorator makes an object of it.
func TestInstalled(t *testing.T) {
	files := map[string]string{
		"langchain_core/__init__.py":       "",
		"langchain_core/tools/__init__.py": installed,
		"tools.py":                         "from langchain_core.tools import tool\n@tool\ndef f(a):\n    return a\n@tool('named')\ndef g(a):\n    return a + a\n",
	}
	for function, want := range map[string]string{"f": "x\n", "g": "xx\n", "named": "xx\n"} {
		if stdout, stderr, err := call(t, files, function, `{"a": "x"}`); err != nil || stdout != want {
			t.Errorf("%s: %q, %v\n%s", function, stdout, err, stderr)
		}
	}
}

// What is no result does not get into it.
func TestPrints(t *testing.T) {
	stdout, stderr, err := call(t, map[string]string{"tools.py": "print('loading')\ndef f():\n    print('working')\n    return 'done'\n"}, "f", `{}`)
	if err != nil || stdout != "done\n" || stderr != "loading\nworking\n" {
		t.Errorf("%q, %q, %v", stdout, stderr, err)
	}
}

func TestFails(t *testing.T) {
	for _, test := range []struct{ name, source, function, args, want string }{
		{"no such function", "a = 1\n", "f", `{}`, "there is no function f"},
		{"no function", "f = 1\n", "f", `{}`, "is not a function"},
		{"a missing argument", "def f(a):\n    pass\n", "f", `{}`, "f: missing a required argument: 'a'"},
		{"an unknown argument", "def f():\n    pass\n", "f", `{"a": 1}`, "f: got an unexpected keyword argument 'a'"},
		{"a field that is missing", "from langchain_core.tools import BaseTool\nfrom pydantic import BaseModel\nclass In(BaseModel):\n    a: str\nclass F(BaseTool):\n    args_schema: type = In\n    def _run(self, a): pass\n", "F", `{}`, "missing a required argument: 'a'"},
		{"validation, which nothing here stands in for", "from pydantic import BaseModel, field_validator\n", "f", `{}`, "cannot import name 'field_validator'"},
		{"an exception", "def f():\n    raise ValueError('no luck')\n", "f", `{}`, "ValueError: no luck"},
		{"a missing module", "import nosuchmodule\ndef f():\n    pass\n", "f", `{}`, "No module named 'nosuchmodule'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, err := call(t, map[string]string{"tools.py": test.source}, test.function, test.args)
			if err == nil || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("%q, %v, want %q in:\n%s", stdout, err, test.want, stderr)
			}
		})
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]bool{"f": true, "search_all2": true, "": false, "_f": false, "a.b": false, "-c": false, "a b": false} {
		if IsCallable(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}

// inlined is a manifest with the code of its tools, and code that shows their use.
const inlined = "---\nname: sums\n---\n# Sums\n\n```python\nimport math\n\n@tool\ndef add(a: int, b: int = 1) -> int:\n    \"\"\"Adds two numbers.\"\"\"\n    return math.floor(a + b)\n```\n\n" +
	"Use it so:\n\n```python\nprint(add.invoke({'a': 1}))\nraise SystemExit(3)\n```\n\n```sh\n@tool\n```\n\n```py\n@tool('half')\ndef halve(n: float):\n    return n / 2\n"

// TestInline runs the tools in the code blocks of a manifest, and no other block.
func TestInline(t *testing.T) {
	var names []string
	for _, f := range Tools(Code("SKILL.md", []byte(inlined))) {
		names = append(names, f.Python+" "+f.Name+" "+f.Doc)
	}
	if want := []string{"add add Adds two numbers.", "halve half "}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if line, err := syntax.SyntaxError(Code("SKILL.md", []byte(inlined))); err != nil {
		t.Errorf("line %d: %v", line, err)
	}
	for _, text := range []string{inlined, "\ufeff" + strings.ReplaceAll(inlined, "\n", "\r\n")} {
		for function, want := range map[string]string{"add": "5\n", "halve": "2.0\n"} {
			args := map[string]string{"add": `{"a": 4}`, "halve": `{"n": 4}`}[function]
			if out, log, err := callIn(t, map[string]string{"SKILL.md": text}, "SKILL.md", function, args); err != nil || out != want {
				t.Errorf("%s: %q %q %v", function, out, log, err)
			}
		}
	}
}
