package python

import (
	"fmt"
	"testing"
)

const clickScript = `"""Module."""
import click

@click.group()
@click.option("--debug/--no-debug", default=False, help="100% more")
@click.version_option("1")
@click.pass_context
def cli(ctx, debug):
    """Does it."""

@cli.command("add", help="Adds.")
@click.argument("name")
@click.argument("files", nargs=-1, type=click.Path(exists=True))
@click.option("-n", "--number", "count", type=int, default=1, show_default=True)
@click.option("--mode", type=click.Choice(["fast", "slow"], case_sensitive=False), required=True)
@click.option("--tag", "-t", multiple=True)
@click.option("--pair", nargs=2, type=float)
@click.option("-x", default="y")
@click.option("-v", "--verbose", count=True)
@click.option("--upper", "case", flag_value="upper")
@click.option("--sure", type=bool)
@click.option("--ask", prompt=True)
@click.option("--many", default=computed(), nargs=computed())
def add_it(**kw):
    pass

@click.command()
def remove_all():
    """Removes."""

cli.add_command(remove_all)

if __name__ == "__main__":
    cli(obj={})
`

func TestClick(t *testing.T) {
	s := Read("tool.py", []byte(clickScript))
	want := "debug:boolean=false command:string*[add remove-all] name:string files:array count:integer mode:string[fast slow] tag:array pair:array x:string verbose:integer case:boolean sure:boolean ask:string (line 23: --many has nargs that are computed and is left out)"
	if got := summary(s); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	if got := s.CommandLine.Description; got != "Does it." {
		t.Errorf("description %q", got)
	}
	for name, test := range map[string]struct{ args, want string }{
		"all": {`{"debug": true, "command": "add", "name": "-n", "files": ["a", "-b"], "count": -2, "mode": "fast", "tag": ["-a", "b"], "pair": [1, -2.5], "x": "-z", "verbose": 2, "case": true, "sure": false, "ask": "a"}`,
			`["--debug" "add" "--number=-2" "--mode=fast" "--tag=-a" "--tag=b" "--pair" "1" "-2.5" "-x" "-z" "--verbose" "--verbose" "--upper" "--sure=false" "--ask=a" "--" "-n" "a" "-b"]`},
		"off":        {`{"debug": false, "command": "remove-all"}`, `["--no-debug" "remove-all"]`},
		"no command": {`{}`, `"command" is required`},
	} {
		t.Run(name, func(t *testing.T) {
			argv, err := s.CommandLine.Argv(decode(t, test.args))
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

func TestClickNotKnown(t *testing.T) {
	for name, test := range map[string]struct{ source, want string }{
		"an own decorator": {"import click\n@common\n@click.command()\ndef f(): pass\nf()", "none (line 4: a decorator that is not click's may add options)"},
		"own arguments":    {"import click\n@click.command()\ndef f(): pass\nf(['x'])", "none (line 4: the command does not read the script's arguments)"},
		"a suffix":         {"import click\n@click.group()\ndef f(): pass\n@f.command()\ndef my_cmd(): pass\nf()", "none (line 4: the command's name depends on click's version)"},
		"a class":          {"import click\n@click.command(cls=Own)\ndef f(): pass\nf()", "none (line 2: the command is made by a class, or with arguments, that are not known)"},
		"alone":            {"from click import *\nimport click as c\n@c.command\n@c.option('--a', is_flag=True)\n@c.argument('b', required=False)\ndef f(): pass\nf()", "a:boolean=false b:string"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(Read("tool.py", []byte(test.source))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
