package python

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

const header = "import argparse, sys\np = argparse.ArgumentParser()\n"

// summary says in a line what was read: properties with their types, * for
// required, or why nothing was.
func summary(s *cli.Script) string {
	var parts []string
	if s.CommandLine != nil {
		all := s.CommandLine.Schema()
		for pair := all.Properties.Oldest(); pair != nil; pair = pair.Next() {
			part, schema := pair.Key, pair.Value
			if schema.Type != "" {
				part += ":" + schema.Type
			}
			if slices.Contains(all.Required, pair.Key) {
				part += "*"
			}
			if schema.Default != nil {
				data, _ := json.Marshal(schema.Default)
				part += "=" + string(data)
			}
			if schema.Enum != nil {
				part += fmt.Sprint(schema.Enum)
			}
			parts = append(parts, part)
		}
	} else {
		parts = append(parts, "none")
	}
	for _, note := range s.Notes {
		text := "(" + note.Text + ")"
		if note.Line > 0 {
			text = fmt.Sprintf("(line %d: %s)", note.Line, note.Text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func TestRead(t *testing.T) {
	for name, test := range map[string]struct{ source, want string }{
		"empty":               {"", ""},
		"no command line":     {"print('hello')\n", ""},
		"typer":               {"import typer\ndef main(name: str): pass\ntyper.run(main)\n", "none (line 1: what typer reads of the arguments is not known)"},
		"nobody parses":       {header + "p.add_argument('x')\n", "none (line 1: what argparse reads of the arguments is not known)"},
		"plain":               {header + "p.add_argument('x')\np.parse_args()\n", "x:string*"},
		"BOM and CRLF":        {"\ufeff" + strings.ReplaceAll(header+"p.add_argument('x',\n type=int)\np.parse_args()\n", "\n", "\r\n"), "x:integer*"},
		"old Mac's lines":     {strings.ReplaceAll(header+"p.add_argument('x')\np.parse_args()\n", "\n", "\r"), "x:string*"},
		"no last newline":     {header + "p.add_argument('x')\np.parse_args()", "x:string*"},
		"Latin-1":             {"# -*- coding: latin-1 -*-\n# \xe9\n" + header + "p.add_argument('x')\np.parse_args()", "x:string*"},
		"one line":            {"import argparse as a; p = a.ArgumentParser(); p.add_argument('--y', default=3, type=int); p.parse_args()", "y:integer=3"},
		"walrus":              {"import argparse\nif (p := argparse.ArgumentParser()):\n  p.add_argument('x')\nprint(p.parse_args())", "x:string*"},
		"chained":             {"import argparse\np = q = argparse.ArgumentParser()\np.add_argument('x')\nq.parse_args()", "x:string*"},
		"annotated":           {"import argparse\np: argparse.ArgumentParser = argparse.ArgumentParser()\np.add_argument('x')\nprint(p.parse_args().x)", "x:string*"},
		"with":                {header + "with (open('x') as f, open('y') as g):\n  p.add_argument('x')\nwith (open)('z') as h: p.parse_args()", "x:string*"},
		"try":                 {header + "try:\n  p.add_argument('x')\nexcept* ValueError as e:\n  pass\nelse:\n  p.parse_args()\nfinally: pass", "x:string*"},
		"a name match":        {header + "match = 1\nmatch.x = 2\nmatch[0], y = 1, 2\nmatch (1)\np.parse_args()\np.add_argument('--y')", "y:string"},
		"match":               {header + "match sys.argv:\n  case [a, {'b': 1, **c}] if x[1:2]: p.add_argument('--no')\n  case _:\n    pass\np.parse_args()", "(line 4: --no depends on a condition and is left out)"},
		"decorated":           {header + "@app.command(name='x')\n@other\nasync def f[T](a: T = {'x': 1}, /, *b, c, **d) -> list[int]:\n  await a\np.add_argument('x')\np.parse_args()", "x:string*"},
		"Python 2's print":    {header + "print 'hello', x\np.add_argument('x')\np.parse_args()", "x:string*"},
		"a bad statement":     {header + "p.add_argument('x' 'y') oops\np.parse_args()", "none (line 3: a statement that declares arguments could not be read)"},
		"not closed":          {header + "p.add_argument('x'\n", "none (the source cannot be read: line 4: a bracket is not closed, or closed twice)"},
		"open string":         {header + "x = '''abc\n", "none (the source cannot be read: line 3: a string is not closed)"},
		"bad indent":          {"if x:\n    y\n  z\n", "none (the source cannot be read: line 3: the indentation fits no block)"},
		"a NUL":               {"x = 1\x00", "none (the source cannot be read: it holds a NUL)"},
		"in a condition":      {header + "if unknown():\n  p.add_argument('--x')\np.parse_args()", "(line 4: --x depends on a condition and is left out)"},
		"needed in one":       {header + "if unknown():\n  p.add_argument('x')\np.parse_args()", "none (line 4: an argument depends on a condition)"},
		"known conditions":    {header + "DEBUG = False\nif DEBUG: p.add_argument('x')\nelif not DEBUG and sys.platform == 'linux': p.add_argument('y')\np.parse_args()", "y:string*"},
		"flags of a loop":     {header + "for n in names(): p.add_argument('--' + n)\np.parse_args()", "(line 3: an argument has flags that are computed and is left out)"},
		"names of a loop":     {header + "for n in names(): p.add_argument(n)\np.parse_args()", "none (line 3: an argument has flags that are computed)"},
		"a known loop":        {header + "for n, t in {'a': int, 'b': float}.items():\n  p.add_argument(f'--{n}', type=t)\np.parse_args()", "a:integer b:number"},
		"a loop that ends":    {header + "for n in ['a', 'b', 'c']:\n  if n == 'b': continue\n  if n == 'c':\n    break\n  p.add_argument('--' + n)\nelse:\n  pass\np.parse_args()", "a:string"},
		"a comprehension":     {header + "[p.add_argument('--' + n) for n in names]\np.parse_args()", "(line 3: an argument has flags that are computed and is left out)"},
		"spread settings":     {header + "kw = dict(type=int, default=2)\np.add_argument(*['-x', '--ex'], **kw, help='h')\np.parse_args()", "ex:integer=2"},
		"of another parser":   {header + "q = argparse.ArgumentParser()\nq.add_argument('--y', **kw())\np.add_argument('--x')\np.parse_args()", "x:string"},
		"nothing is left out": {header + "p.add_argument('--y', **kw())\np.add_argument(name())\np.parse_args()", "none (line 4: an argument has flags that are computed)"},
		"declared elsewhere":  {"import argparse\np = argparse.ArgumentParser(conflict_handler='resolve')\nif x(): p.add_argument('--y', help='a')\np.add_argument('--y')\np.parse_args()", "y:string"},
		"unknown settings":    {header + "p.add_argument('--x', **kw())\np.parse_args()", "(line 3: --x has settings that are computed and is left out)"},
		"unknown choices":     {header + "p.add_argument('--x', choices=names(), default='a')\np.parse_args()", `x:string="a"`},
		"unknown action":      {header + "p.add_argument('--x', action=Own)\np.parse_args()", "(line 3: --x has an action that is not known and is left out)"},
		"an own action":       {header + "class Own(argparse.Action):\n  def __call__(self, p, ns, v, o=None): setattr(ns, self.dest, v)\np.add_argument('--x', action=Own, type=int)\np.parse_args()", "x:integer"},
		"another file":        {header + "add_more(p)\np.parse_args()", "none (line 3: the parser is given to a function of another file, which may add arguments)"},
		"completion":          {"import argcomplete\n" + header + "p.add_argument('x')\nargcomplete.autocomplete(p)\np.parse_args()", "x:string*"},
		"own function":        {header + "def add(to, /, name='x'):\n  to.add_argument(name)\nadd(p); add(p, name='y')\np.parse_args()", "x:string* y:string*"},
		"recursion":           {header + "def f(q): f(q)\nf(p)\np.parse_args()", "none (line 3: the parser is given to a function of another file, which may add arguments)"},
		"not its arguments":   {header + "p.parse_args(['x'])", "none (line 3: parse_args does not read the script's arguments)"},
		"after the command":   {header + "p.parse_args(sys.argv[2:])", "none (line 3: parse_args reads sys.argv from 2)"},
		"computed argv":       {header + "p.parse_args(shlex.split(x))", "none (line 3: what parse_args reads is computed)"},
		"argv or its own":     {header + "def main(argv=None):\n  argv = sys.argv[1:] if argv is None else argv\n  p.add_argument('x')\n  p.parse_args(argv)\nmain()", "x:string*"},
		"an entry point":      {"import argparse\ndef main(argv):\n  p = argparse.ArgumentParser()\n  p.add_argument('x')\n  p.parse_args(argv)\n", "x:string*"},
		"two parsers":         {header + "q = argparse.ArgumentParser()\nif x: p.parse_args()\nelse: q.parse_args()", "none (line 5: several parsers read the arguments)"},
		"parents":             {"import argparse\nq = argparse.ArgumentParser(parents=[p])\nq.parse_args()", "none (line 2: the parser has parents)"},
		"declared twice":      {header + "p.add_argument('--x')\np.add_argument('--x')\np.parse_args()", "none (line 4: the option --x is declared twice)"},
		"resolved":            {"import argparse\np = argparse.ArgumentParser(conflict_handler='resolve')\np.add_argument('--x', '-x')\np.add_argument('--x', type=int)\np.parse_args()", "none (line 4: the option --x is declared twice)"},
		"no-x":                {header + "p.add_argument('--no-ai', dest='ai', action='store_false', help='Skip AI')\np.parse_args()", "no-ai:boolean"},
		"no-x by a constant":  {header + "p.add_argument('--no-ai', dest='ai', action='store_const', const=False)\np.parse_args()", "no-ai:boolean"},
		"one dest":            {header + "p.add_argument('--on', dest='v', action='store_true')\np.add_argument('--off', dest='v', action='store_false')\np.parse_args()", "on:boolean=false off:boolean"},
		"prefix characters":   {"import argparse\np = argparse.ArgumentParser(prefix_chars='+/')\np.add_argument('+x', '++ex-y')\np.add_argument('/z')\np.add_argument('-pos')\np.parse_args()", "none (line 2: prefix_chars is set)"},
		"shadowed":            {"import argparse\nclass argparse:\n  pass\np = argparse.ArgumentParser()\np.parse_args()", "none (line 5: which parser parse_args belongs to is not known)"},
		"unknown parser":      {"from x import p\np.add_argument('x')\np.parse_args()", "none (line 3: the function parse_args of another file may read the arguments)"},
		"in a dict":           {"import argparse\nd = {}\nd['p'] = argparse.ArgumentParser()\nd['p'].add_argument('x')\nd['p'].parse_args()", "x:string*"},
		"in an object":        {"import argparse\nclass Base:\n  def __init__(self): self.p = argparse.ArgumentParser(); self.add()\n  def go(self): return self.p.parse_args()\nclass App(Base):\n  def add(self): self.p.add_argument('x')\nApp().go()", "none (line 7: the class App declares arguments, which is not followed)"},
		"a constructor":       {"import argparse\nclass App:\n  def __init__(self, n):\n    p = argparse.ArgumentParser()\n    p.add_argument(n)\n    self.args = p.parse_args()\n  def run(self): pass\nApp('x').run()", "x:string*"},
		"global":              {"import argparse\np = None\ndef f():\n  global p\n  p = argparse.ArgumentParser()\n  p.add_argument('x')\nf()\np.parse_args()", "x:string*"},
		"nested f-string":     {header + "n = 'x'\np.add_argument(f\"--{f'{n}' if True else n}\", help=f'{n:>{10}} {n!r} {{}} {n=}')\np.parse_args()", "x:string"},
		"f-string's quotes":   {header + "d = {'a': 'x'}\np.add_argument(f'--{d['a']}')\np.parse_args()", "x:string"},
		"escapes":             {header + "p.add_argument('\\x2d\\55\\u0061\\\n\\142')\np.parse_args()", "ab:string"},
		"a named character":   {header + "p.add_argument('--a', default='\\N{DASH}')\np.parse_args()", "a:string"},
		"arithmetic":          {header + "KB = 1024\np.add_argument('--n', type=int, default=2 * KB * KB + 0x_f - -1)\np.add_argument('--f', type=float, default=-1_0.5e1)\np.add_argument('--g', type=float, default=1 / 2)\np.parse_args()", "n:integer=2097168 f:number=-105 g:number"},
		"sorted keys":         {header + "M = {'b': 1, 'a': 2}\np.add_argument('x', choices=sorted(M))\np.add_argument('--y', choices=[*M.keys(), 'c'])\np.parse_args()", "x:string*[a b] y:string[b a c]"},
		"a list that grows":   {header + "C = ['a']\nC.append('b')\np.add_argument('x', choices=C)\np.parse_args()", "x:string*"},
		"called with some":    {header + "p.add_argument('x')\np.parse_args(args=None if sys.argv[1:] else ['--help'])", "x:string*"},
		"changed later":       {header + "a = p.add_argument('--x')\na.required = True\na.completer = names\np.parse_args()", "x:string*"},
		"changed unknown":     {header + "a = p.add_argument('--x')\na.choices = ('u',)\np.parse_args()", "none (line 4: the attribute choices of an argument is set)"},
		"sub-commands":        {header + "s = p.add_subparsers(dest='cmd', required=True)\nfor n in ('a', 'b'):\n  q = s.add_parser(n)\n  q.add_argument('f')\n  q.add_argument('--n', type=int if n == 'a' else float)\np.parse_args()", "cmd:string*[a b] f:string* n:integer b_n:number"},
		"no sub-command":      {header + "p.add_subparsers()\np.parse_args()", ""},
		"after them":          {header + "s = p.add_subparsers()\ns.add_parser('a')\np.add_argument('x')\np.parse_args()", "none (line 5: a positional argument comes after the sub-commands)"},
		"awful nesting":       {"x = " + strings.Repeat("(", 300) + strings.Repeat(")", 300) + "\n", "none (the source cannot be read: line 1: it nests too deeply)"},
		"a long sum":          {header + "x = 1" + strings.Repeat("+1", 5000) + "\np.add_argument('x')\np.parse_args()\n", "x:string*"},
		"too long":            {strings.Repeat("#", syntax.MaxSource+1), "none (the source cannot be read: it is larger than 1024 KiB)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(NewModule([]byte(test.source)).Read("tool.py")); got != test.want {
				t.Errorf("got  %s\nwant %s\n%s", got, test.want, test.source[:min(len(test.source), 500)])
			}
		})
	}
}

func TestArgv(t *testing.T) {
	source := header + `
p.add_argument("--name", "-n")
p.add_argument("--n", type=int)
p.add_argument("--ratio", type=float)
p.add_argument("--data", type=json.loads)
p.add_argument("--tag", action="append")
p.add_argument("--many", nargs="+")
p.add_argument("--pair", nargs=2)
p.add_argument("--maybe", nargs="?", const="c")
p.add_argument("-v", action="count")
p.add_argument("--color", action=argparse.BooleanOptionalAction)
p.add_argument("--no-cache", dest="cache", action="store_false")
p.add_argument("-q", action="store_true", default=True)
p.add_argument("first")
p.add_argument("second", nargs="?")
p.add_argument("rest", nargs=argparse.REMAINDER)
p.parse_args()
`
	c := Read("tool.py", []byte("import json\n"+source)).CommandLine
	if c == nil {
		t.Fatal("no command line")
	}
	for name, test := range map[string]struct{ args, want string }{
		"a dash":              {`{"first": "f", "name": "-x"}`, `["--name=-x" "f"]`},
		"a dash in front":     {`{"first": "-f"}`, `["--" "-f"]`},
		"null":                {`{"first": "f", "name": null}`, `["f"]`},
		"empty":               {`{"first": "", "name": ""}`, `["--name=" ""]`},
		"whole numbers":       {`{"first": "f", "n": 1e2, "ratio": 1e-7}`, `["--n=100" "--ratio=0.0000001" "f"]`},
		"large":               {`{"first": "f", "n": 123456789012345678901234567890}`, `["--n=123456789012345678901234567890" "f"]`},
		"JSON":                {`{"first": "f", "data": "{\"a\": 1}"}`, `["--data={\"a\": 1}" "f"]`},
		"repeated":            {`{"first": "f", "tag": ["a", "-b"]}`, `["--tag=a" "--tag=-b" "f"]`},
		"a list":              {`{"first": "f", "many": ["a", "b"]}`, `["--many" "a" "b" "--" "f"]`},
		"a list and more":     {`{"first": "f", "name": "n", "many": ["a", "-5"]}`, `["--many" "a" "-5" "--name=n" "f"]`},
		"a pair":              {`{"first": "f", "pair": ["a", "b"]}`, `["--pair" "a" "b" "f"]`},
		"optional":            {`{"first": "f", "maybe": "d"}`, `["--maybe=d" "f"]`},
		"counted":             {`{"first": "f", "v": 3}`, `["-v" "-v" "-v" "f"]`},
		"off":                 {`{"first": "f", "color": false, "no-cache": true}`, `["--no-color" "--no-cache" "f"]`},
		"on":                  {`{"first": "f", "color": true, "no-cache": false}`, `["--color" "f"]`},
		"the rest":            {`{"first": "f", "second": "s", "rest": ["-n", "1"]}`, `["--" "f" "s" "-n" "1"]`},
		"missing":             {`{}`, `"first" is required`},
		"unknown":             {`{"first": "f", "other": 1}`, `"other" is not an argument of the script`},
		"no integer":          {`{"first": "f", "n": 1.5}`, `"n" must be an integer`},
		"huge":                {`{"first": "f", "n": 1e999999999}`, `"n" must be an integer`},
		"no number":           {`{"first": "f", "ratio": "1"}`, `"ratio" must be a number`},
		"no array":            {`{"first": "f", "tag": "a"}`, `"tag" must be an array`},
		"no pair":             {`{"first": "f", "pair": ["a"]}`, `"pair" has 1 values, which the script does not accept`},
		"none of many":        {`{"first": "f", "many": []}`, `"many" has 0 values, which the script does not accept`},
		"an option in a list": {`{"first": "f", "many": ["a", "--n"]}`, `"many" cannot hold "--n" beside other values: the script would take it for an option`},
		"a NUL":               {`{"first": "a\u0000"}`, `"first" must not contain a NUL character`},
		"the end of options":  {`{"first": "--"}`, `"first" cannot be "--": the script would take it for an option`},
		"no way back":         {`{"first": "f", "q": false}`, `"q" cannot be false: the script has no option for it`},
		"too often":           {`{"first": "f", "v": 101}`, `"v" must be an integer from 0 to 100`},
		"a gap":               {`{"first": "f", "rest": ["a"]}`, `"second" lacks a value: the script would give it one of "rest", which comes behind it`},
	} {
		t.Run(name, func(t *testing.T) {
			argv, err := c.Argv(decode(t, test.args))
			got := fmt.Sprintf("%q", argv)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var args map[string]any
	if err := decoder.Decode(&args); err != nil {
		t.Fatal(err)
	}
	return args
}

func TestArgvOfCommands(t *testing.T) {
	c := Read("tool.py", []byte(header+`
p.add_argument("--verbose", action="store_true")
p.add_argument("--level", type=int, default=1)
p.add_argument("--files", nargs="*")
s = p.add_subparsers(dest="do")
a = s.add_parser("add", aliases=["a"], help="adds")
a.add_argument("--verbose", action="store_true")
a.add_argument("--level", type=str)
a.add_argument("what")
b = s.add_parser("remove")
g = b.add_mutually_exclusive_group(required=True)
g.add_argument("--all", action="store_true")
g.add_argument("--name")
p.parse_args()
`)).CommandLine
	for name, test := range map[string]struct{ args, want string }{
		"none":          {`{"verbose": true}`, `["--verbose"]`},
		"no command":    {`{"do": "move"}`, `"do" must be the name of a command`},
		"an alias":      {`{"do": "a"}`, `"do" must be the name of a command`},
		"one":           {`{"do": "add", "what": "-x", "verbose": true}`, `["add" "--verbose" "--" "-x"]`},
		"missing":       {`{"do": "add"}`, `"what" is required for the command "add"`},
		"of another":    {`{"do": "add", "what": "x", "name": "n"}`, `"name" is not an argument of the script for the command "add"`},
		"of none":       {`{"what": "x"}`, `"what" is not an argument of the script`},
		"overridden":    {`{"do": "add", "what": "x", "level": 2}`, `"level" cannot be given with the command "add", which sets it itself; give "add_level"`},
		"its own":       {`{"do": "add", "what": "x", "add_level": "2"}`, `["add" "--level=2" "x"]`},
		"a list before": {`{"do": "remove", "all": true, "files": ["a", "b"]}`, `"do" cannot be given: the option before it would take the command for one of its values`},
		"and an option": {`{"do": "remove", "all": true, "level": 2, "files": ["a", "b"]}`, `["--files" "a" "b" "--level=2" "remove" "--all"]`},
		"both":          {`{"do": "remove", "all": true, "name": "n"}`, `"name" cannot be given together with "all"`},
		"neither":       {`{"do": "remove"}`, `"all" is required, or one of the others of its group: all, name`},
	} {
		t.Run(name, func(t *testing.T) {
			argv, err := c.Argv(decode(t, test.args))
			got := fmt.Sprintf("%q", argv)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
