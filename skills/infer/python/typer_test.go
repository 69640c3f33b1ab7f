package python

import (
	"fmt"
	"testing"
)

func TestTyper(t *testing.T) {
	for name, test := range map[string]struct{ source, want, args, argv string }{
		"run": {"import typer\ndef main(name: str, count: int = 1, loud: bool = False, tags: list[str] = [], ratio: float = typer.Option(..., '--ratio', '-r', help='how')):\n  'Greets.'\ntyper.run(main)",
			"name:string* count:integer=1 loud:boolean=false tags:array ratio:number*",
			`{"name": "-n", "count": 2, "loud": false, "tags": ["a"], "ratio": 0.5}`, `["--count=2" "--no-loud" "--tags=a" "--ratio=0.5" "--" "-n"]`},
		"one command": {"from typing import Annotated, Optional\nimport typer, enum\nclass Mode(str, enum.Enum):\n  fast = 'f'\n  slow = 's'\napp = typer.Typer()\n@app.command('x')\ndef my_cmd(ctx: typer.Context, files: Annotated[list[str], typer.Argument(help='h')], mode: Mode = Mode.fast, dry_run: Annotated[bool, typer.Option('--dry')] = False, out: Optional[str] = None): pass\nif __name__ == '__main__': app()",
			"files:array* mode:string=\"f\"[f s] dry_run:boolean=false out:string",
			`{"files": ["a", "-b"], "mode": "s", "dry_run": true, "out": "o"}`, `["--mode=s" "--dry" "--out=o" "--" "a" "-b"]`},
		"several": {"import typer\napp = typer.Typer(help='Does.')\n@app.callback()\ndef top(verbose: bool = False): 'Top.'\n@app.command()\ndef add_one(n: int): pass\nsub = typer.Typer()\n@sub.command()\ndef inner(): pass\napp.add_typer(sub, name='more')\napp()",
			"verbose:boolean=false command:string*[add-one more] n:integer more_command:string[inner]",
			`{"verbose": true, "command": "more", "more_command": "inner"}`, `["--verbose" "more" "inner"]`},
		"unknown type": {"import typer\ndef main(x: Own): pass\ntyper.run(main)", "none (line 2: the parameter x has a type that is not known)", "", ""},
		"left out":     {"import typer\ndef main(x: Own = None, y: str = 'a'): pass\ntyper.run(main)", `y:string="a" (line 2: the parameter x has a type that is not known and is left out)`, `{"y": "b"}`, `["--y=b"]`},
	} {
		t.Run(name, func(t *testing.T) {
			s := Read("tool.py", []byte(test.source))
			if got := summary(s); got != test.want {
				t.Fatalf("got  %s\nwant %s", got, test.want)
			}
			if test.args == "" {
				return
			}
			argv, err := s.CommandLine.Argv(decode(t, test.args))
			if got := fmt.Sprintf("%q", argv); err != nil || got != test.argv {
				t.Errorf("got  %s, %v\nwant %s", got, err, test.argv)
			}
		})
	}
}

func TestTyperAliases(t *testing.T) {
	const head = "import typer\nfrom typing import Annotated, Literal, Optional\n"
	for source, want := range map[string]string{
		"Name = Annotated[str, typer.Argument(help='who')]\nCount: type = Annotated[int, typer.Option('--n')]\ndef main(name: Name, count: Count = 2): pass\n": "name:string* count:integer=2",
		"Mode = Literal['a', 'b']\nTags = Optional[list[str]]\ndef main(mode: Mode = 'a', tags: Tags = None): pass\n":                                          `mode:string="a"[a b] tags:array`,
		"type Name = Annotated[str, typer.Argument(help='who')]\ndef main(name: Name): pass\n":                                                                 "name:string*",
		"A = Optional[int]\nB = Annotated[A, typer.Option()]\ndef main(x: B = None): pass\n":                                                                   "x:integer",
	} {
		if got := summary(Read("tool.py", []byte(head+source+"typer.run(main)"))); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", source, got, want)
		}
	}
}
