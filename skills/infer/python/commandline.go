package python

import (
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/fileuse"
)

// A CommandLine has a script's arguments by name, in the order in which they are
// declared. Its methods may be called at the same time.
type CommandLine struct {
	*cli.CommandLine
	// Description is the parser's own, or the module's docstring.
	Description string
	parser      *parser
	actions     map[*cli.Argument]*action
}

// Describe returns the description.
func (c *CommandLine) Describe() string { return c.Description }

func newCommandLine(p *parser, told *notes) *CommandLine {
	c := &CommandLine{Description: p.description, parser: p, actions: map[*cli.Argument]*action{}}
	return c.laid(c.command(p, told), told)
}

// laid returns the command line with its arguments laid out.
func (c *CommandLine) laid(command *cli.Command, told *notes) *CommandLine {
	if c.CommandLine = cli.New(command); c.CommandLine == nil {
		told.add(0, "the script has more than %d arguments", cli.MaxProperties)
		return nil
	}
	return c
}

// command lays out a parser and its sub-commands.
func (c *CommandLine) command(p *parser, told *notes) *cli.Command {
	p.tellOmitted(told)
	laid := &cli.Command{Namespace: !p.words, Terminator: !p.words, Numbers: !p.words}
	own := map[string]int{}
	for _, act := range p.actions {
		if p.shows(act) {
			own[act.dest]++
		}
	}
	of := map[*action]*cli.Argument{}
	for _, act := range p.actions {
		if p.shows(act) {
			a := p.argument(act, !act.positional() && (own[act.dest] > 1 || act.turnsOff()))
			of[act], c.actions[a] = a, act
			laid.Arguments = append(laid.Arguments, a)
		}
	}
	for _, g := range p.mutexes {
		group := cli.Group{Required: g.required}
		for _, act := range p.actions {
			if of[act] != nil && slices.Contains(g.members, act) {
				group.Members = append(group.Members, of[act])
			}
		}
		laid.Groups = append(laid.Groups, group)
	}
	if p.subs == nil || len(p.subs.commands) == 0 {
		return laid
	}
	laid.Must, laid.Chooser, laid.About = p.subs.required, p.subs.dest, p.subs.help
	for _, sub := range p.subs.commands {
		below := c.command(sub.parser, told)
		below.Name = sub.name
		below.Description = strings.ReplaceAll(strings.ReplaceAll(sub.help, "%%", "%"), "%(prog)s", sub.parser.prog)
		laid.Commands = append(laid.Commands, below)
	}
	return laid
}

// shows reports whether an argument becomes a property. One that its author hides does
// where a call may need it.
func (p *parser) shows(act *action) bool {
	if act.kind == "help" || act.kind == "version" {
		return false
	}
	needed := func(g *group) bool { return g.required && slices.Contains(g.members, act) }
	return !act.hidden || act.positional() || act.required || slices.ContainsFunc(p.mutexes, needed)
}

// turnsOff reports whether an option, such as --no-cache, makes a variable of another name
// false: its help is about the option.
func (act *action) turnsOff() bool {
	off := act.kind == "store_false" || act.kind == "store_const" && act.constant == value(false)
	return off && strings.ReplaceAll(strings.TrimLeft(act.longest(), "-"), "-", "_") != act.dest
}

// argument returns the argument of an action. Flagged reports whether the property says
// that the flag is given, and not what the value becomes: several set it.
func (p *parser) argument(act *action, flagged bool) *cli.Argument {
	a := &cli.Argument{Name: act.dest, Variable: act.dest, Description: act.expandedHelp(p.prog), Required: act.required, Off: act.off, Truths: act.trueFalse()}
	if !act.positional() {
		if a.Flag = act.longest(); flagged {
			a.Name = strings.TrimLeft(a.Flag, "-")
		}
	}
	switch {
	case p.words:
		a.Leads, a.Form, a.Not = true, cli.Apart, slices.Sorted(maps.Keys(p.flags))
		if act.choices != nil {
			a.Not = nil
		}
	default:
		a.Not = []string{"--"}
	}
	if act.shape(a, flagged); act.typ == typeJSON && a.Description == "" {
		a.Description = "Any value."
	}
	if a.Together {
		a.Dashes = "the script would take it for an option"
	}
	standard, ok := act.defaultJSON()
	switch {

	case ok && !(flagged && act.kind == "store_false"):
		a.Default = standard
	case act.typ == typeFunction && act.kind == "store" && !strings.Contains(strings.ToLower(act.help), "default"):
		switch act.fallback.(type) {
		case bool, int64, float64:
			text, _ := pyStr(act.fallback)
			a.Description = cli.Sentences(a.Description, "Default: "+text+".")
		}
	}
	return a
}

// trueFalse returns the texts that the argument's type takes for true and for false.
func (a *action) trueFalse() []string {
	if a.typ == typeBool {
		return []string{"True", ""}
	}
	return nil
}

// Refuses reports whether the script certainly takes a flag such as "--name" for a
// mistake: argparse reads it, and knows no option that begins so.
func (c *CommandLine) Refuses(flag string) bool {
	p := c.parser
	if p.words || p.lenient || p.subs != nil || strings.Contains(flag, "=") {
		return false
	}
	known := slices.Collect(maps.Keys(p.flags))
	for _, o := range p.omitted {
		if known = append(known, o.names...); len(o.names) == 0 {
			return false
		}
	}
	return !slices.ContainsFunc(known, func(name string) bool { return strings.HasPrefix(name, flag) }) &&
		!slices.ContainsFunc(p.actions, func(act *action) bool { return act.nargs == "..." })
}

// Fallbacks returns the defaults of arguments that are texts or paths, by property.
func (c *CommandLine) Fallbacks() map[string]string {
	all := map[string]string{}
	c.Arguments(func(property string, of *cli.Argument) {
		arg := c.actions[of]
		if arg == nil || arg.kind != "store" || arg.nargs != "" && arg.nargs != "?" {
			return
		}
		switch v := arg.fallback.(type) {
		case string:
			all[property] = v
		case unknown:
			if v.path != "" {
				all[property] = v.path
			}
		}
	})
	return all
}

// look finds the arguments that name files or folders: those whose type is a path or a
// file, and those that the script opens or looks up.
func (c *CommandLine) look(script code) {
	used := map[string]cli.File{}
	words := c.parser.words
	fileuse.Each(script, !words, func(name string, written bool) {
		f := used[name]
		// A plain name may be another function's, which says less.
		f.Written, f.Read = f.Written || written, f.Read || !written || words
		used[name] = f
	})
	c.Arguments(func(_ string, of *cli.Argument) {
		arg := c.actions[of]
		if arg == nil { // made of several, or of none
			return
		}
		f, found := used[arg.dest]
		switch {
		case !arg.takesValue() || arg.typ == typeInteger || arg.typ == typeNumber || arg.typ == typeJSON:
			return
		case arg.file == noFile && !found:
			return
		case arg.file == writesFile:
			f.Written = true
		case arg.file == readsFile:
			f.Read = true
		}
		of.File = &f
	})
}
