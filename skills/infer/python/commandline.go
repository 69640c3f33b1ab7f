package python

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/fileuse"
)

// command lays out a parser and its sub-commands. Used are the variables that name files.
func (p *parser) command(used map[string]cli.File, told *cli.Notes) *cli.Command {
	p.tellOmitted(told)
	laid := &cli.Command{Description: p.description, Namespace: !p.words, Terminator: !p.words, Numbers: !p.words}
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
			a.Fallback, a.File = act.fallbackName(), act.fileUse(used)
			of[act] = a
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
		below := sub.parser.command(used, told)
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
	act.shape(a, flagged)
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

// fallbackName returns the default of an argument that is a text or a path.
func (act *action) fallbackName() string {
	if act.kind != "store" || act.nargs != "" && act.nargs != "?" {
		return ""
	}
	path, _ := act.fallback.(unknown)
	text, _ := act.fallback.(string)
	return cmp.Or(text, path.path)
}

// fileUse returns the use of the argument as a name of a file or a folder: by its type,
// or by the script, which opens it or looks it up. It is nil for another.
func (act *action) fileUse(used map[string]cli.File) *cli.File {
	f, found := used[act.dest]
	switch {
	case !act.takesValue() || act.typ == typeInteger || act.typ == typeNumber || act.file == noFile && !found:
		return nil
	case act.file == writesFile:
		f.Written = true
	case act.file == readsFile:
		f.Read = true
	}
	return &f
}

// fileUses returns the variables that the script uses as names of files: members where
// argparse sets them. A plain name may be another function's, which says less.
func (m *Module) fileUses(member bool) map[string]cli.File {
	used := map[string]cli.File{}
	fileuse.Each(m.tokens, member, func(name string, written bool) {
		f := used[name]
		f.Written, f.Read = f.Written || written, f.Read || !written || !member
		used[name] = f
	})
	return used
}
