package python

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// scripts is how many generated scripts are compared with Python.
const scripts = 800

// python starts testdata/report.py, which answers requests, one a line.
func python(t *testing.T) func(request any, answer any) {
	t.Helper()
	name, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" {
			t.Fatal("SKILLS_MCP_REQUIRE_TOOLS is 1 and there is no python3")
		}
		t.Skip("SKIPPED: nothing is compared with Python's argparse: there is no python3")
	}
	cmd := exec.CommandContext(t.Context(), name, "-E", "-W", "ignore", "testdata/report.py")
	cmd.Env = append(os.Environ(), "COLUMNS=200", "PYTHONIOENCODING=utf-8")
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 5 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	return func(request, answer any) {
		t.Helper()
		if err := json.NewEncoder(in).Encode(request); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("report.py: %v", err)
		}
		if err := json.Unmarshal(line, answer); err != nil {
			t.Fatal(err)
		}
	}
}

type request struct {
	Name   string     `json:"name"`
	Source string     `json:"source"`
	Argvs  [][]string `json:"argvs"`
}

type answer struct {
	Error  string        `json:"error"`
	Parser *parserReport `json:"parser"`
	Parsed []struct {
		Error  string         `json:"error"`
		Values map[string]any `json:"values"`
	} `json:"parsed"`
}

// A parserReport is what Python's argparse says of a parser, and what we say.
type parserReport struct {
	Description any                      `json:"description"`
	Actions     []actionReport           `json:"actions"`
	Exclusive   [][]any                  `json:"exclusive"`
	Commands    map[string]*parserReport `json:"commands"`
	Dest        any                      `json:"dest"`
	Must        bool                     `json:"must"`
}

type actionReport struct {
	Flags    []string `json:"flags"`
	Dest     string   `json:"dest"`
	Kind     string   `json:"kind"`
	NArgs    any      `json:"nargs"`
	Const    any      `json:"const"`
	Default  any      `json:"default"`
	Type     any      `json:"type"`
	Choices  any      `json:"choices"`
	Required bool     `json:"required"`
	Help     any      `json:"help"`
}

// ours reports a parser that was read, in Python's terms.
func ours(p *parser, python *parserReport) *parserReport {
	r := &parserReport{Description: python.Description, Actions: []actionReport{}, Exclusive: [][]any{}, Commands: map[string]*parserReport{}}
	if p.description != "" && python.Description != nil {
		r.Description = strings.Join(strings.Fields(p.description), " ")
	}
	for at, act := range p.actions {
		var theirs actionReport
		if at < len(python.Actions) {
			theirs = python.Actions[at]
		}
		r.Actions = append(r.Actions, oursOf(act, p.prog, theirs))
	}
	for _, g := range p.mutexes {
		members := []any{}
		for _, act := range g.members {
			members = append(members, act.dest)
		}
		r.Exclusive = append(r.Exclusive, []any{g.required, members})
	}
	if p.subs != nil {
		r.Must = p.subs.required
		if p.subs.dest != "" {
			r.Dest = p.subs.dest
		}
		for _, command := range p.subs.commands {
			if theirs := python.Commands[command.name]; theirs != nil {
				r.Commands[command.name] = ours(command.parser, theirs)
			}
		}
	}
	return r
}

func oursOf(a *action, prog string, theirs actionReport) actionReport {
	r := actionReport{Flags: a.flags, Dest: a.dest, Kind: a.kind, Required: a.required, Default: plain(a.fallback, theirs.Default)}
	if r.Flags == nil {
		r.Flags = []string{}
	}
	if a.nargs != "" {
		r.NArgs = a.nargs
	}
	if a.positional() && (a.nargs == "*" || a.nargs == "...") {
		r.Required = theirs.Required // it may have no value, whatever argparse calls it
	}
	r.Const = plain(a.constant, theirs.Const)
	if a.kind == "store_true" || a.kind == "store_false" {
		r.Const = a.kind == "store_true"
	}
	if a.kind == "help" || a.kind == "version" {
		r.Default = theirs.Default
		r.Help = theirs.Help
		return r
	}
	if name, ok := map[valueType]string{typeInteger: "int", typeNumber: "float", typeBool: "bool", typePath: "Path"}[a.typ]; ok {
		r.Type = name
	} else if a.typ == typeFunction || theirs.Type == "str" {
		r.Type = theirs.Type
	}
	if a.choices != nil {
		r.Choices = plain(a.choices, theirs.Choices)
	}
	if a.help != "" {
		r.Help = a.expandedHelp(prog)
	}
	if theirs.Help != nil && r.Help != nil && (a.kind == "boolean" || strings.Contains(r.Help.(string), "…") || a.typ == typeFunction || strings.Contains(a.help, "%(prog)s")) {
		r.Help = theirs.Help // versions of Python add the default to it
	}
	return r
}

// plain renders a value as JSON decodes it. What is not known is taken to be
// what Python says.
func plain(v value, theirs any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case bool, string, float64:
		return v
	case *sequence:
		list := []any{}
		others, _ := theirs.([]any)
		for at, item := range v.items {
			var other any
			if at < len(others) {
				other = others[at]
			}
			list = append(list, plain(item, other))
		}
		return list
	case unknown:
		return theirs
	}
	return nil
}

// readParser reads a script as Read does and returns its parser.
func readParser(t *testing.T, source string) (*parser, *Script) {
	t.Helper()
	s := Read("tool.py", []byte(source))
	if s.CommandLine == nil {
		t.Fatalf("no command line: %v\n%s", s.Notes, numbered(source))
	}
	if len(s.Notes) > 0 {
		t.Fatalf("notes: %v\n%s", s.Notes, numbered(source))
	}
	return s.parser, s
}

func numbered(source string) string {
	var b strings.Builder
	for n, line := range strings.Split(source, "\n") {
		fmt.Fprintf(&b, "%3d %s\n", n+1, line)
	}
	return b.String()
}

// Each generated script is read as Python's argparse reads it, action by action,
// and command lines that we write give Python the values that they were made of.
func TestPython(t *testing.T) {
	ask := python(t)
	lines, refused := 0, 0
	for seed := range uint64(seeds()) {
		g := newGenerator(seed)
		source := g.script()
		p, c := readParser(t, source)
		r := request{Name: "tool.py", Source: source}
		var wanted []map[string]any
		var given []map[string]any
		for range 6 {
			args, want := g.arguments(c)
			argv, err := c.CommandLine.Argv(args)
			if err != nil {
				refused++
				continue
			}
			r.Argvs = append(r.Argvs, append([]string{}, argv...))
			wanted, given = append(wanted, want), append(given, args)
		}
		var a answer
		ask(r, &a)
		if a.Error != "" {
			t.Fatalf("seed %d: Python refuses the script: %s\n%s", seed, a.Error, numbered(source))
		}
		if diff := cmp.Diff(a.Parser, ours(p, a.Parser)); diff != "" {
			t.Fatalf("seed %d: Python's (-) and ours (+): %s\n%s", seed, diff, numbered(source))
		}
		for at, parsed := range a.Parsed {
			lines++
			where := fmt.Sprintf("seed %d: %v as %q\n%s", seed, given[at], r.Argvs[at], numbered(source))
			if parsed.Error != "" {
				t.Fatalf("Python refuses a command line: %s\n%s", parsed.Error, where)
			}
			for dest, want := range wanted[at] {
				if diff := cmp.Diff(want, parsed.Values[dest]); diff != "" {
					t.Fatalf("%s: given (-) and got (+): %s\n%s", dest, diff, where)
				}
			}
		}
	}
	if lines < 4*scripts {
		t.Errorf("only %d command lines were written, %d refused", lines, refused)
	}
	t.Logf("%d scripts, %d command lines, %d refused as not to be written", scripts, lines, refused)
}

// seeds is how many scripts are made: more where PYARGS_SCRIPTS says so.
func seeds() int {
	if n, err := strconv.Atoi(os.Getenv("PYARGS_SCRIPTS")); err == nil {
		return n
	}
	return scripts
}
