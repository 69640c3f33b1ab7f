package python

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// awkward are texts that a command line can easily get wrong.
var awkward = []string{"plain", "", "two words", "-x", "--opt-0", "--", "-5", "-1.5", "a=b", "=", "-", "*", "'\"", "$HOME", "é\n", "build", "-x1=2"}

// A level is a parser with the properties of its arguments.
type level struct {
	name      string
	parser    *parser
	arguments []*argument
	commands  []*level
}

type argument struct {
	*action
	name    string // of its property
	flagged bool
}

// levels returns the parsers of a command line.
func (c *Script) levels() *level {
	var names []string
	c.CommandLine.Arguments(func(property string, _ *cli.Argument) { names = append(names, property) })
	var lay func(p *parser, name string) *level
	lay = func(p *parser, name string) *level {
		l := &level{name: name, parser: p}
		own := map[string]int{}
		for _, act := range p.actions {
			if p.shows(act) {
				own[act.dest]++
			}
		}
		for _, act := range p.actions {
			if p.shows(act) {
				l.arguments = append(l.arguments, &argument{act, names[0], !act.positional() && (own[act.dest] > 1 || act.turnsOff())})
				names = names[1:]
			}
		}
		if p.subs != nil {
			for _, sub := range p.subs.commands {
				l.commands = append(l.commands, lay(sub.parser, sub.name))
			}
		}
		return l
	}
	return lay(c.parser, "")
}

// chooser returns the property that chooses one of the commands: the names of the
// outer ones before do not occur in these scripts.
func (l *level) chooser(c *Script) string {
	for pair := c.CommandLine.Schema().Properties.Oldest(); pair != nil; pair = pair.Next() {
		if len(pair.Value.Enum) == len(l.commands) && pair.Value.Enum[0] == l.commands[0].name && strings.Contains(pair.Key, l.parser.subs.dest) && pair.Value.Type == "string" {
			return pair.Key
		}
	}
	panic("no chooser")
}

// arguments returns arguments that fit the schema, and the values that the
// script should see, by dest. Arguments that share a dest are not looked at.
func (g *generator) arguments(c *Script) (args, want map[string]any) {
	args, want = map[string]any{}, map[string]any{}
	l := c.levels()
	path := []*level{l}
	for len(l.commands) > 0 && (l.parser.subs.required || !g.one(4)) {
		command := pick(g, l.commands...)
		args[l.chooser(c)] = command.name
		if l.parser.subs.dest != "" {
			want[l.parser.subs.dest] = command.name
		}
		l = command
		path = append(path, l)
	}
	dests := map[string]int{}
	for _, l := range path {
		for _, act := range l.parser.actions {
			dests[act.dest]++
		}
	}
	for _, l := range path {
		g.levelArguments(l, args, want)
	}
	for dest, n := range dests {
		if n > 1 {
			delete(want, dest)
		}
	}
	return args, want
}

func (g *generator) levelArguments(l *level, args, want map[string]any) {
	skip := map[*argument]bool{}
	need := map[*argument]bool{}
	for _, m := range l.parser.mutexes {
		var members []*argument
		for _, arg := range l.arguments {
			if slices.Contains(m.members, arg.action) {
				members = append(members, arg)
			}
		}
		if len(members) == 0 {
			continue
		}
		chosen := pick(g, members...)
		need[chosen] = m.required
		for _, arg := range members {
			skip[arg] = arg != chosen
		}
	}
	for _, arg := range l.arguments {
		if skip[arg] || !arg.required && !need[arg] && g.one(2) {
			continue
		}
		given, wanted := g.value(arg, need[arg] || arg.required)
		if given == nil {
			continue
		}
		args[arg.name] = given
		if wanted != nil {
			want[arg.dest] = wanted
		}
	}
}

// value returns a value of an argument, and what the script should see.
func (g *generator) value(a *argument, needed bool) (given, want any) {
	switch a.kind {
	case "store_true", "store_false":
		on := a.kind == "store_true"
		if a.flagged {
			return true, on
		}
		if a.fallback == on || needed {
			return on, on
		}
		on = g.one(2)
		if a.fallback != !(a.kind == "store_true") && on != (a.kind == "store_true") {
			return on, nil // the script sees its own default
		}
		return on, on
	case "boolean":
		if a.off == "" || g.one(2) {
			return true, true
		}
		return false, false
	case "store_const":
		return true, plain(a.constant, nil)
	case "append_const":
		return true, nil
	case "count":
		base, _ := toFloat(a.fallback)
		n := 1 + g.IntN(3)
		return json.Number(fmt.Sprint(n)), base + float64(n)
	case "append", "extend":
		return g.added(a)
	}
	return g.values(a)
}

// added returns values for an action that adds to its default.
func (g *generator) added(a *argument) (given, want any) {
	if a.kind == "extend" {
		given, want = g.values(a)
		if list, ok := given.([]any); ok && len(list) == 0 {
			want = nil
		}
		return given, addedTo(a.fallback, want)
	}
	var gives, wants []any
	for range 1 + g.IntN(3) {
		given, want := g.values(a)
		gives, wants = append(gives, given), append(wants, want)
	}
	return gives, addedTo(a.fallback, wants)
}

func addedTo(base value, want any) any {
	if base != nil && !isNone(base) && base != suppress || want == nil {
		return nil
	}
	return want
}

func (g *generator) values(a *argument) (given, want any) {
	n := 0
	switch a.nargs {
	case "", "?":
		return g.scalar(a)
	case "*", "...":
		n = g.IntN(4)
	case "+":
		n = 1 + g.IntN(3)
	default:
		n = a.span().least
	}
	gives, wants := []any{}, []any{}
	for range n {
		given, want := g.scalar(a)
		gives, wants = append(gives, given), append(wants, want)
	}
	if n == 0 && a.positional() {
		return gives, nil // argparse takes the default then
	}
	return gives, wants
}

// scalar returns one value. An argument that a function reads has a value that
// is not looked at where the function changes it.
func (g *generator) scalar(a *argument) (given, want any) {
	if enum := a.enum(); enum != nil {
		given = pick(g, enum...)
		if n, ok := given.(json.Number); ok {
			f, _ := n.Float64()
			return given, f
		}
		return given, given
	}
	switch a.typ {
	case typeInteger:
		given = json.Number(pick(g, "0", "7", "-3", "5.0", "1e3", "123456789012345"))
	case typeNumber:
		given = json.Number(pick(g, "0", "-2.5", "1e-3", "-1e5", "3.14159", "1e20"))
	case typeBool:
		on := g.one(2)
		return on, on
	case typePath:
		text := pick(g, "a/b", "-dash", "x y")
		return text, text
	default:
		text := pick(g, awkward...)
		if a.typ == typeFunction {
			text = pick(g, "/a/b", "/x y")
		}
		return text, text
	}
	f, _ := given.(json.Number).Float64()
	return given, f
}

func toFloat(v value) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
