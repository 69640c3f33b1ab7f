package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// lineOf returns the command line of a script.
func lineOf(source []byte) *cli.CommandLine {
	return NewModule(source).Read("").CommandLine
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// decode reads arguments as the server does.
func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	var args map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&args); err != nil {
		t.Fatal(err)
	}
	return args
}

// schemaLine renders a schema in one line: name type, ! where it is required,
// and its default.
func schemaLine(c *cli.CommandLine) string {
	s := c.Schema()
	var parts []string
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		part := pair.Key + " " + pair.Value.Type
		if slices.Contains(s.Required, pair.Key) {
			part += "!"
		}
		if pair.Value.Default != nil {
			part += fmt.Sprintf("=%v", pair.Value.Default)
		}
		if pair.Value.Enum != nil {
			part += strings.Replace(strings.Replace(fmt.Sprint(pair.Value.Enum), "[", " (", 1), "]", ")", 1)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// A plainScript is one that is read. Its variables are those that it dumps.
type plainScript struct {
	name, text string
	schema     string
	args       string // JSON
	argv       string // joined by |
	got        string // what bash gets of it
	property   map[string]string
}

func plainScripts() []plainScript {
	return []plainScript{
		{
			name: "getopts",
			text: `OUTPUT=out.txt
usage() { echo "usage"; exit 1; }
while getopts ":ho:vt:" opt; do
  case $opt in
    h) usage ;;
    o) OUTPUT="$OPTARG" ;;
    v) VERBOSE=1 ;;
    t) TAGS+=("$OPTARG") ;;
    \?) echo "bad -$OPTARG" >&2; exit 2 ;;
    :) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
INPUT="${1:?input}"
EXTRA=${2:-none}
dump OUTPUT VERBOSE TAGS INPUT EXTRA`,
			schema:   "output string=out.txt, verbose boolean, tags array, input string!, extra string=none",
			args:     `{"output": "-v", "verbose": true, "tags": ["a b", "-t"], "input": "--"}`,
			argv:     "-o|-v|-v|-t|a b|-t|-t|--|--",
			got:      "OUTPUT<-v> VERBOSE<1> TAGS<a b><-t> INPUT<--> EXTRA<none>",
			property: map[string]string{"output": "OUTPUT", "input": "INPUT", "extra": "EXTRA", "tags": "TAGS"},
		},
		{
			name: "getopts with files",
			text: `while getopts 'n:' o "$@"; do case "${o}" in n) count=${OPTARG};; *) exit 1;; esac; done
shift "$((OPTIND-1))"
FILES=("$@")
dump count FILES`,
			schema:   "count string, files array",
			args:     `{"count": 3, "files": ["-n", "5"]}`,
			argv:     "-n|3|--|-n|5",
			got:      "count<3> FILES<-n><5>",
			property: map[string]string{"count": "count", "files": "FILES"},
		},
		{
			name: "while and case",
			text: `set -euo pipefail
NAME=""
FORMAT="json"
DRY_RUN=false
while [[ $# -gt 0 ]]; do
  case "$1" in
    --name|-n) NAME="$2"; shift 2 ;;
    --format) FORMAT=$2; shift; shift ;;
    --format=*) FORMAT="${1#*=}"; shift ;;
    --dry-run) DRY_RUN=true; shift ;;
    --list-all)
      echo all
      exit 0
      ;;
    -h|--help) echo usage; exit 0 ;;
    *) echo "Unknown option: $1" >&2; exit 1 ;;
  esac
done
if [[ -z "$NAME" ]]; then
  echo "Error: --name is required" >&2
  exit 1
fi
dump NAME FORMAT DRY_RUN`,
			schema:   "name string!, format string=json, dry_run boolean, list_all boolean",
			args:     `{"name": "--dry-run", "dry_run": true, "format": "a=b"}`,
			argv:     "--name|--dry-run|--format|a=b|--dry-run",
			got:      "NAME<--dry-run> FORMAT<a=b> DRY_RUN<true>",
			property: map[string]string{"name": "NAME", "format": "FORMAT"},
		},
		{
			name: "values behind =",
			text: `LEVEL=
while [ $# -gt 0 ]; do
  case $1 in
    --level=*) LEVEL="${1#*=}" ;;
    --path=*) WHERE=${1#--path=} ;;
    --quiet|-q) QUIET=yes ;;
    *) ;;
  esac
  shift
done
: "${LEVEL:?is missing}"
dump LEVEL WHERE QUIET`,
			schema:   "level string!, path string, quiet boolean",
			args:     `{"level": "--quiet", "path": "x=y", "quiet": false}`,
			argv:     "--level=--quiet|--path=x=y",
			got:      "LEVEL<--quiet> WHERE<x=y> QUIET<>",
			property: map[string]string{"level": "LEVEL", "path": "WHERE"},
		},
		{
			name: "one shift for all",
			text: `while test $# -gt 0; do
  key="$1"
  case $key in
    -o|--out) OUT="$2"; shift ;;
    -f) FORCE=1 ;;
    --tag) TAGS+=("$2"); shift;;
    *) REST+=("$1") ;;
  esac
  shift
done
dump OUT FORCE TAGS REST`,
			schema:   "out string, force boolean, tag array, rest array",
			args:     `{"out": "o", "force": true, "tag": ["-f"], "rest": ["x", "y-z"]}`,
			argv:     "--out|o|-f|--tag|-f|x|y-z",
			got:      "OUT<o> FORCE<1> TAGS<-f> REST<x><y-z>",
			property: map[string]string{"out": "OUT", "rest": "REST"},
		},
		{
			name: "one positional among options",
			text: `while [ $# -gt 0 ]; do
  case "$1" in
    --lang) LANGUAGE="${2:?}"; shift 2;;
    -*) echo "unknown" >&2; exit 1;;
    *) TARGET="$1"; shift;;
  esac
done
[ -z "$TARGET" ] && { echo "no target"; exit 1; }
dump LANGUAGE TARGET`,
			schema:   "lang string, target string!",
			args:     `{"lang": "go", "target": "x"}`,
			argv:     "--lang|go|x",
			got:      "LANGUAGE<go> TARGET<x>",
			property: map[string]string{"target": "TARGET"},
		},
		{
			name: "in main",
			text: `parse() {
  while (($#)); do
    case "$1" in
      --mode) [[ $# -ge 2 ]] || die "no mode"; MODE="$2"; shift 2 ;;
      -x) X=1; shift ;;
      *) die "what" ;;
    esac
  done
}
die() { echo "$*" >&2; exit 1; }
main() {
  parse "$@"
  MODE="${MODE:-fast}"
  dump MODE X
}
if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then
  main "$@"
fi`,
			schema:   "mode string=fast, x boolean",
			args:     `{"mode": "-x"}`,
			argv:     "--mode|-x",
			got:      "MODE<-x> X<>",
			property: map[string]string{"mode": "MODE"},
		},
		{
			name: "places",
			text: `if [ $# -lt 2 ]; then echo "usage"; exit 1; fi
FROM=$1
TO="$2"
MODE="${3:-fast}"
dump FROM TO MODE`,
			schema:   "from string!, to string!, mode string=fast",
			args:     `{"from": "-1", "to": "--help"}`,
			argv:     "-1|--help",
			got:      "FROM<-1> TO<--help> MODE<fast>",
			property: map[string]string{"from": "FROM", "to": "TO", "mode": "MODE"},
		},
		{
			name: "places and help",
			text: `case "${1:-}" in
  -h|--help) echo usage; exit 0;;
esac
DIR=${1:-.}
[[ "$DIR" == "all" ]] && DIR=everything
dump DIR`,
			schema:   "dir string=.",
			args:     `{"dir": "x y"}`,
			argv:     "x y",
			got:      "DIR<x y>",
			property: map[string]string{"dir": "DIR"},
		},
		{
			name: "a command",
			text: `die() { fail "$1"; }
fail() { echo "$1" >&2; exit 1; }
COMMAND="${1:-start}"
case "$COMMAND" in
  start|stop) DONE=$COMMAND ;;
  restart) DONE="$2" ;;
  -h | --help | "") exit 0 ;;
  *) die "what" ;;
esac
dump COMMAND DONE`,
			schema:   "command string=start (start stop restart), done string",
			args:     `{"command": "restart", "done": "-9"}`,
			argv:     "restart|-9",
			got:      "COMMAND<restart> DONE<-9>",
			property: map[string]string{},
		},
		{
			name: "commands",
			text: `usage() { echo "Usage: $0 add <title> [--due DATE] | done <id>"; exit 1; }
add() {
  TITLE="$1"
  shift
  while [ $# -gt 0 ]; do case "$1" in --due) DUE="$2"; shift 2 ;; *) usage ;; esac; done
}
main() {
  local command="${1:-}"
  shift || true
  case "$command" in
    add) add "$@" ;;
    done)
      [ $# -lt 1 ] && usage
      ID="$1" ;;
    *) usage ;;
  esac
  dump ID
}
main "$@"`,
			schema:   "command string (add done), args array",
			args:     `{"command": "done", "args": ["7"]}`,
			argv:     "done|7",
			got:      "ID<7>",
			property: map[string]string{},
		},
		{
			name: "another command",
			text: `case "$1" in
  get) KEY="$2" ;;
  put) shift; KEY="$1"; VALUE="${2:-none}" ;;
  *) [ -f "$1" ] && KEY=file ;;
esac
dump KEY`,
			schema:   "command string, key string, value string",
			args:     `{"command": "put", "key": "k", "value": "-v"}`,
			argv:     "put|k|-v",
			got:      "KEY<k>",
			property: map[string]string{},
		},
		{
			name: "the rest",
			text: `set -u
FIRST=$1; shift
ALL=()
for file in "$@"; do ALL+=("$file"); done
dump FIRST ALL`,
			schema:   "first string!, file array",
			args:     `{"first": "a", "file": ["b", "-c"]}`,
			argv:     "a|b|-c",
			got:      "FIRST<a> ALL<b><-c>",
			property: map[string]string{"first": "FIRST"},
		},
		{
			name:     "getopts of old scripts",
			text:     "while getopts 'h?u:p' o\ndo case \"$o\" in\n  u) user=\"$OPTARG\"; case $user in bad) exit 1 ;; *) : ;; esac ;;\n  p) pass=1 ;;\n  [?]) echo usage; exit 1 ;;\n  esac\ndone\nshift `expr $OPTIND - 1`\nif [ $# -lt 1 ]; then exit 1; fi\nfile=$1\ndump user pass file",
			schema:   "user string, pass boolean, file string!",
			args:     `{"user": "-p", "pass": true, "file": "-x"}`,
			argv:     "-u|-p|-p|--|-x",
			got:      "user<-p> pass<1> file<-x>",
			property: map[string]string{"user": "user", "file": "file"},
		},
	}
}

func TestPlain(t *testing.T) {
	for _, test := range plainScripts() {
		t.Run(test.name, func(t *testing.T) {
			text := "#!/bin/bash\n" + dump + test.text + "\n"
			c := lineOf([]byte(text))
			if c == nil {
				t.Fatal("not read")
			}
			if got := schemaLine(c); got != test.schema {
				t.Errorf("schema\n%s, want\n%s", got, test.schema)
			}
			argv, err := c.Argv(decode(t, test.args))
			if got := strings.Join(argv, "|"); err != nil || test.argv != "" && got != test.argv {
				t.Fatalf("argv\n%s, %v, want\n%s", got, err, test.argv)
			}
			if test.got == "" {
				return
			}
			values, err := runBash(t, text, argv)
			var names []string
			for _, part := range strings.Split(test.got, " ") {
				if name, _, ok := strings.Cut(part, "<"); ok {
					names = append(names, name)
				}
			}
			if got := dumped(values, slices.DeleteFunc(names, func(n string) bool { return values[n] == "" })); err != nil || got != test.got {
				t.Errorf("bash got\n%s, %v, want\n%s", got, err, test.got)
			}
		})
	}
}

// Whatever a value is, bash gets that value and nothing else, or it is refused.
func TestHostileValues(t *testing.T) {
	for _, test := range plainScripts() {
		text := "#!/bin/bash\n" + dump + test.text + "\n"
		c := lineOf([]byte(text))
		if c == nil {
			t.Errorf("%s: not read", test.name)
			continue
		}
		base := map[string]any{}
		for _, name := range c.Schema().Required {
			base[name] = "base"
		}
		for property, variable := range test.property {
			args := map[string]any{}
			for name, value := range base {
				args[name] = value
			}
			before := ""
			for _, value := range []string{"plain", "-", "--", "-v", "-x", "-h", "--help", "--name", "--nope", "-n5", "--name=x", "a b", "*", "$(exit 9)", "`x`", "'", `"\`, "a\nb", "ü", "=", "a=b", "go"} {
				args[property] = value
				s, _ := c.Schema().Properties.Get(property)
				if s.Type == "array" {
					args[property] = []any{value}
				}
				giveOthers(c, args, property)
				argv, err := c.Argv(args)
				var refused *cli.ArgumentError
				if errors.As(err, &refused) && strings.HasPrefix(value, "-") && refused.Name == property {
					continue
				}
				if err != nil {
					t.Errorf("%s: %s %q: %v", test.name, property, value, err)
					continue
				}
				values, err := runBash(t, text, argv)
				if err != nil || values[variable] != "<"+value+">" {
					t.Errorf("%s: %s %q: %q arrived as %s, %v", test.name, property, value, argv, values[variable], err)
				}
				delete(values, variable)
				if others := fmt.Sprint(values); before == "" {
					before = others
				} else if others != before {
					t.Errorf("%s: %s %q changed others: %s, not %s", test.name, property, value, others, before)
				}
			}
		}
	}
}

// giveOthers gives all positionals, where the property is one of them: those before it
// have to be there.
func giveOthers(c *cli.CommandLine, args map[string]any, property string) {
	c.Arguments(func(name string, a *cli.Argument) {
		if name == property && a.Flag == "" {
			c.Arguments(func(name string, a *cli.Argument) {
				if a.Flag == "" && !a.List && args[name] == nil {
					args[name] = "base"
				}
			})
		}
	})
}

func TestNotPlain(t *testing.T) {
	for name, text := range map[string]string{
		"no shell":                     "import os\nprint('x'\n",
		"forwards":                     `exec python3 main.py "$@"`,
		"forwards in a function":       `run() { python3 main.py "$@"; }; run "$@"`,
		"getopt":                       `OPTS=$(getopt -o a: -- "$@"); eval set -- "$OPTS"; while true; do case "$1" in -a) A=$2; shift 2;; --) shift; break;; esac; done`,
		"getopt is another":            `getopt() { :; }; OPTS=$(getopt -o a: -- "$@"); eval set -- "$OPTS"; while true; do case "$1" in -a) A=$2; shift 2;; --) shift; break;; esac; done`,
		"set":                          `set -- a "$1"; X=$1`,
		"eval":                         `eval "$1"`,
		"shift under a condition":      `while [ $# -gt 0 ]; do case $1 in --a) A=1; [ -n "$2" ] && shift; shift;; esac; done`,
		"a value under a condition":    `while [ $# -gt 0 ]; do case $1 in --a) if [[ "$2" == -* ]]; then A=1; shift; else A=$2; shift 2; fi;; esac; done`,
		"falls through":                `while [ $# -gt 0 ]; do case $1 in --a) A=$2;& --b) shift 2;; esac; done`,
		"a command among options":      `while [ $# -gt 0 ]; do case $1 in --a) A=$2; shift 2;; start) S=1; shift;; *) F=$1; shift;; esac; done`,
		"a pattern before":             `while [ $# -gt 0 ]; do case $1 in -*) exit 1;; --a) A=$2; shift 2;; esac; done`,
		"a command before the options": `A=$1; shift; while [ $# -gt 0 ]; do case $1 in --to) TO=$2; shift 2;; esac; done`,
		"options of a for loop":        `for a in "$@"; do case $a in --all) ALL=1;; esac; done`,
		"shift before the case":        `while [ $# -gt 0 ]; do o=$1; shift; case $o in --a) A=$1; shift;; esac; done`,
		"two values":                   `while [ $# -gt 0 ]; do case $1 in --a) A=$2; B=$3; shift 3;; esac; done`,
		"never shifts":                 `while [ $# -gt 0 ]; do case $1 in --a) A=1;; esac; done`,
		"looks ahead":                  `while [ $# -gt 0 ]; do case $1 in --a) A=$2; shift;; esac; done`,
		"two flags of one name":        `while [ $# -gt 0 ]; do case $1 in --a-b) A=1; shift;; --a_b) B=1; shift;; esac; done`,
		"the same twice":               `while [ $# -gt 0 ]; do case $1 in --a) A=1; shift;; --a) B=1; shift;; esac; done`,
		"two loops":                    strings.Repeat("while [ $# -gt 0 ]; do case $1 in --a) A=1; shift;; esac; done\n", 2),
		"a loop that may not run":      `if true; then while [ $# -gt 0 ]; do case $1 in --a) A=1; shift;; esac; done; fi`,
		"flags by comparison":          `if [ "$1" = "--all" ]; then ALL=1; fi; echo "$2"`,
		"flags by comparison, later":   `X=$1; [[ $X == -a ]] && Y=1`,
		"a flag in an optional place":  `[ "$1" = "-v" ] && shift; X=$1`,
		"what is left is not":          `while [ $# -gt 0 ]; do case $1 in --a) A=1; shift;; *) exit 1;; esac; done; echo "$1"`,
		"long options of getopts":      `while getopts a:-: o; do case $o in a) A=$OPTARG;; -) B=$OPTARG;; esac; done`,
		"indirect":                     `i=1; X=${!i}; Y=$1`,
		"a slice":                      `X=$1; Y=("${@:2}")`,
		"a place left out":             `X=$1; Z=$3`,
		"shift is another":             `shift() { :; }; while [ $# -gt 0 ]; do case $1 in --a) A=1; shift;; esac; done`,
		"never ends":                   `while true; do case $1 in --a) A=1; shift;; *) exit 1;; esac; done`,
		"a mangled value":              `for a in "$@"; do case $a in --a=*) A=$(echo "$a" | cut -d= -f2);; esac; done`,
		"NUL":                          "X=$1\x00",
		"large":                        "X=$1\n" + strings.Repeat("#", maxSource),
		"brackets":                     "X=$1\n" + strings.Repeat("(", maxBrackets+1),
	} {
		if c := lineOf([]byte(text + "\n")); c != nil {
			t.Errorf("%s: read as %s", name, schemaLine(c))
		}
	}
}

func TestArgvErrors(t *testing.T) {
	c := lineOf([]byte(plainScripts()[2].text))
	for args, want := range map[string]string{
		`{}`:                             `"name" is required`,
		`{"name": null}`:                 `"name" is required`,
		`{"name": "x", "more": 1}`:       `"more" is not an argument of the script`,
		`{"name": {"a": 1}}`:             `"name" must be a text`,
		`{"name": "x", "dry_run": "no"}`: `"dry_run" must be true or false`,
		`{"name": "a\u0000b"}`:           `"name" must not contain a NUL character`,
	} {
		_, err := c.Argv(decode(t, args))
		var fault *cli.ArgumentError
		if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	places := lineOf([]byte("A=$1\nB=${2:-x}\nC=$3\n"))
	if _, err := places.Argv(map[string]any{"a": "1", "c": "3"}); err == nil || err.Error() != `"b" lacks a value: the script would give it one of "c", which comes behind it` {
		t.Error(err)
	}
}

func TestHelp(t *testing.T) {
	c := lineOf([]byte("# Options:\n#   -n, --name NAME   whose it is\n#   --size=N\twhat size\n#   -v: more words\n" +
		"while [ $# -gt 0 ]; do case $1 in -n|--name) N=$2; shift 2;; --size) S=$2; shift 2;; -v) V=1; shift;; esac; done\n"))
	for name, want := range map[string]string{"name": "whose it is", "size": "what size"} {
		if s, _ := c.Schema().Properties.Get(name); s == nil || s.Description != want {
			t.Errorf("%s: %+v, want %q", name, s, want)
		}
	}
}

// A negated test is read as its opposite, in each of the shell's forms.
func TestRequired(t *testing.T) {
	for guard, want := range map[string]string{
		`[ ! -n "$1" ] && exit`:              "x string!",
		`[[ ! ( -n $1 ) || -z $2 ]] && exit`: "x string!, arg2 string!",
		`! [ "$1" ] || exit`:                 "x string",
		`[ -n "$1" ] && exit`:                "x string",
		`[[ ! -n $1 && -z $2 ]] && exit`:     "x string, arg2 string",
		`[[ -z $1 && -z $2 ]] && exit`:       "x string, arg2 string",
		`! [ $# -ge 1 ] && exit`:             "x string!",
		`(( $# )) || exit`:                   "x string!",
		`(( $# != 0 )) && exit`:              "x string",
		`[ $# -le 0 ] && exit`:               "x string!",
	} {
		if c := lineOf([]byte(guard + "\nX=$1\n")); c == nil || schemaLine(c) != want {
			t.Errorf("%s: %+v, want %s", guard, c, want)
		}
	}
}

// A script that has nothing to do with its arguments has none.
func TestTakesNone(t *testing.T) {
	for _, test := range []struct {
		text  string
		none  bool
		stdin bool
	}{
		{"", true, false},
		{"echo hello", true, false},
		{"f() { echo \"$1\"; shift; }; f a b", true, false},
		{"main() { date; }; main \"$@\"", false, false},
		{"exec foo \"$@\"", false, false},
		{"set -euo pipefail; awk '{print $1}' /etc/passwd", true, false},
		{"set -- a b; echo $1", false, false},
		{"for x; do echo $x; done", false, false},
		{"while getopts a o; do :; done", false, false},
		{"eval \"$(ssh-agent)\"", true, false},
		{"eval \"$CODE\"", false, false},
		{". ./common.sh; source .venv/bin/activate", true, false},
		{". ./parse_args.sh", false, false},
		{"echo ${BASH_ARGV[0]}", false, false},
		{"cat <<EOF\n$1\nEOF", false, false},
		{"bash -c 'echo $1' _ x", true, false},
		{"if [ $# -eq 0 ]; then echo; fi", false, false},
		{"read -r NAME", true, true},
		{"while read -r l; do echo $l; done < file", true, false},
		{"ls | while read -r l; do echo $l; done", true, false},
		{"cat | sort", true, true},
		{"X=$(cat)", true, true},
		{"cat file", true, false},
		{"jq . /dev/stdin", true, true},
		{"jq -r .a", true, true},
		{"jq -n '{}'", true, false},
		{"jq .a file", true, false},
		{"each() { while read -r l; do echo $l; done; }\nls | each", true, false},
		{"each() { while read -r l; do echo $l; done; }\nmain() { each; }\nmain", true, true},
	} {
		m := NewModule([]byte(test.text))
		read := m.Read("")
		line := read.CommandLine
		none := line != nil && line.Schema().Properties.Len() == 0
		if none != test.none || none && m.ReadsInput() != test.stdin {
			t.Errorf("%q: %+v", test.text, read)
		}
		if none {
			if argv, err := line.Argv(map[string]any{}); err != nil || len(argv) > 0 {
				t.Errorf("%q: %q, %v", test.text, argv, err)
			}
		} else if line == nil && (len(read.Notes) == 0 || read.Notes[0].Line == 0) {
			t.Errorf("%q: %+v", test.text, read)
		}
	}
}
