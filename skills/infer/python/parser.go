package python

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// A parser is an argparse.ArgumentParser, or the script's own code.
type parser struct {
	words       bool // the script's own code reads the words
	line        int
	class       *class // of the file, where it is one
	prog        string
	description string
	argDefault  value
	defaults    map[string]value
	actions     []*action
	flags       map[string]*action
	subs        *subparsers
	mutexes     []*group
	broken      *note // why its command line is not known
	omitted     []omission
	lenient     bool // the script accepts arguments that its parser does not know
}

// An omission is an option, or a sub-command, that is not known well enough.
type omission struct {
	note  note
	names []string // its flags, or its name
}

// A group is an argument group of a parser.
type group struct {
	parser    *parser
	exclusive bool
	required  bool
	members   []*action
}

// subparsers is the result of add_subparsers.
type subparsers struct {
	parser   *parser
	dest     string // "" without one
	required bool
	help     string
	commands []*command
	after    int    // arguments that were declared before
	class    *class // of the commands' parsers; nil for argparse's own
}

type command struct {
	name   string
	others []string // aliases
	help   string
	parser *parser
}

func (s *subparsers) find(name string) *command {
	for _, c := range s.commands {
		if c.name == name || slices.Contains(c.others, name) {
			return c
		}
	}
	return nil
}

// poison says that the parser's arguments are not known; the first reason counts.
func (p *parser) poison(line int, format string, args ...any) {
	if p.broken == nil {
		p.broken = noteOn(line, fmt.Sprintf(format, args...))
	}
}

// omit records an argument that is left out. It is reported only where the parser's
// command line is known: without one, nothing is left out.
func (p *parser) omit(line int, names []string, format string, args ...any) {
	p.omitted = append(p.omitted, omission{*noteOn(line, fmt.Sprintf(format, args...)+" and is left out"), names})
}

// tellOmitted reports the arguments that are left out, unless they are declared
// elsewhere as well.
func (p *parser) tellOmitted(told *cli.Notes) {
	for _, o := range p.omitted {
		if !slices.ContainsFunc(o.names, func(name string) bool { return p.flags[name] != nil || p.subs != nil && p.subs.find(name) != nil }) {
			told.Add(o.note.Line, "%s", o.note.Text)
		}
	}
}

// add registers an argument, whose flags must be new.
func (p *parser) add(act *action, line int) {
	if len(p.actions) == maxArguments {
		p.poison(line, "it has more than %d arguments", maxArguments)
		return
	}
	for _, flag := range act.flags {
		if p.flags[flag] != nil {
			p.poison(line, "the option %s is declared twice", flag)
		}
		p.flags[flag] = act
	}
	p.actions = append(p.actions, act)
}

func (p *parser) setAttribute(name string, v value, line int) {
	switch name {
	case "description":
		p.description, _ = v.(string)
	case "prog":
		if text, ok := v.(string); ok {
			p.prog = text
		}
	case "epilog", "usage", "formatter_class", "exit_on_error", "allow_abbrev", "_positionals", "_optionals", "_action_groups":
	default:
		if p.class == nil {
			p.poison(line, "the parser's attribute %s is set", name)
		}
	}
}

// precedes reports whether the arguments of p are the other parser's too: it was made by
// the same call.
func (p *parser) precedes(other *parser) bool {
	return p == other || p.line == other.line && len(p.actions) == len(other.actions)
}

const (
	// maxCommands is the maximum number of sub-commands on all levels.
	maxCommands = 256
	// maxCommandDepth is the maximum depth of sub-commands in sub-commands.
	maxCommandDepth = 8
)

// fault returns why a parser, or one of its sub-commands, is not known.
func (p *parser) fault(depth int, commands *int) *note {
	if p.broken != nil {
		return p.broken
	}
	if *commands++; *commands > maxCommands {
		return noteOn(0, fmt.Sprintf("it has more than %d sub-commands", maxCommands))
	}
	if p.subs == nil {
		return nil
	}
	if depth == maxCommandDepth {
		return noteOn(0, "its sub-commands nest too deeply")
	}
	for _, c := range p.subs.commands {
		if note := c.parser.fault(depth+1, commands); note != nil {
			return note
		}
	}
	for _, act := range p.actions[p.subs.after:] {
		if act.positional() {
			return noteOn(act.line, "a positional argument comes after the sub-commands")
		}
	}
	return nil
}

// newParser evaluates ArgumentParser(…), or the constructor of a class of the file
// that comes from it.
func newParser(r *reading, c *class, a *arguments) *parser {
	p := &parser{line: a.line, class: c, prog: r.prog, defaults: map[string]value{}, flags: map[string]*action{}}
	p.checkClass(a.line)
	if a.spread {
		p.poison(a.line, "the parser is made with arguments that are computed")
	}
	if prog, ok := a.get(0, "prog"); ok {
		p.setAttribute("prog", prog, a.line)
	}
	description, _ := a.get(2, "description")
	p.description, _ = description.(string)
	p.description = strings.ReplaceAll(strings.TrimSpace(p.description), "%(prog)s", p.prog)
	if a.named("prefix_chars", "-") != "-" {
		p.poison(a.line, "prefix_chars is set")
	}
	if !isNone(a.named("fromfile_prefix_chars", syntax.None{})) {
		p.poison(a.line, "fromfile_prefix_chars is set")
	}
	p.argDefault = a.named("argument_default", nil)
	if a.named("add_help", true) != false {
		p.add(&action{flags: []string{"-h", "--help"}, kind: "help", dest: "help", hidden: true}, a.line)
	}
	if _, given := a.get(-1, "parents"); given {
		p.poison(a.line, "the parser has parents")
	}
	return p
}

// checkClass poisons a parser whose class changes its arguments.
func (p *parser) checkClass(line int) {
	if p.class == nil {
		return
	}
	for _, own := range []string{"__init__", "add_argument", "parse_args", "parse_known_args", "_get_option_tuples", "convert_arg_line_to_args", "add_subparsers"} {
		if p.class.members[own] != nil {
			p.poison(line, "the parser's class has a method %s of its own", own)
		}
	}
	if p.class.relevant() {
		p.poison(line, "the parser's class declares arguments")
	}
}

// call evaluates a method of a parser.
func (p *parser) call(r *reading, name string, a *arguments) value {
	switch name {
	case "add_subparsers":
		return p.addSubparsers(r, a)
	case "_add_action", "_add_container_actions", "_remove_action", "_handle_conflict_resolve":
		p.poison(a.line, "the parser is changed with %s", name)
	default:
		return (&group{parser: p}).call(r, name, a)
	}
	return unknown{}
}

// call evaluates a method that parsers and groups have.
func (g *group) call(r *reading, name string, a *arguments) value {
	switch name {
	case "add_argument":
		return g.addArgument(r, a)
	case "add_argument_group":
		return &group{parser: g.parser}
	case "add_mutually_exclusive_group":
		either := &group{parser: g.parser, exclusive: true, required: a.named("required", false) == true}
		g.parser.mutexes = append(g.parser.mutexes, either)
		return either
	case "set_defaults":
		g.parser.setDefaults(r, a)
	default:
		r.giveAway(a)
	}
	return unknown{}
}

func (p *parser) setDefaults(r *reading, a *arguments) {
	for _, k := range a.keywords {
		if r.unsure > 0 {
			k.value = unknown{}
		}
		p.defaults[k.name] = k.value
		for _, act := range p.actions {
			if act.dest == k.name {
				act.fallback = k.value
			}
		}
	}
}

func isParse(method string) bool {
	switch method {
	case "parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args":
		return true
	}
	return false
}

// parsed notes that a call such as parse_args reads the script's own arguments, which it
// must.
func (p *parser) parsed(name string, a *arguments) {
	from, ok := a.get(0, "args")
	v, _ := from.(unknown)
	argv, own := from.(argvector)
	switch {
	case !ok || isNone(from) || from == argvector(1) || v.parameter:
	case own:
		p.poison(a.line, "%s reads sys.argv from %d", name, argv)
	case isUnknown(from):
		p.poison(a.line, "what %s reads is computed", name)
	default:
		p.poison(a.line, "%s does not read the script's arguments", name)
	}
	p.lenient = p.lenient || strings.Contains(name, "_known_")
}

func (p *parser) addSubparsers(r *reading, a *arguments) value {
	if r.unsure > 0 {
		p.poison(a.line, "whether there are sub-commands depends on a condition")
	}
	if p.subs != nil || a.spread {
		p.poison(a.line, "its sub-commands are computed")
	}
	s := &subparsers{parser: p, required: a.named("required", false) == true, class: p.class, after: len(p.actions)}
	if dest, _ := a.named("dest", syntax.None{}).(string); dest != suppress {
		s.dest = dest
	}
	if given, ok := a.get(-1, "parser_class"); ok {
		c, is := given.(*class)
		if s.class = c; !(is && c.comesFrom("ArgumentParser", "argparse")) && given != reference("argparse.ArgumentParser") {
			p.poison(a.line, "the class of its sub-commands is not known")
		}
	}
	s.help = a.help()
	p.subs = s
	return s
}

// call evaluates add_parser.
func (s *subparsers) call(r *reading, method string, a *arguments) value {
	if method != "add_parser" {
		r.giveAway(a)
		return unknown{}
	}
	child := newParser(r, s.class, &arguments{line: a.line, keywords: a.keywords, spread: a.spread})
	name, ok := a.first().(string)
	switch {
	case !ok:
		s.parser.omit(a.line, nil, "a sub-command has a name that is computed")
		return child
	case r.unsure > 0:
		s.parser.omit(a.line, []string{name}, "the sub-command %s depends on a condition", name)
		return child
	case len(s.commands) == maxArguments || s.find(name) != nil:
		s.parser.poison(a.line, "the sub-command %s is one too many", name)
		return child
	}
	c := &command{name: name, parser: child, help: a.help()}
	if _, has := a.get(-1, "prog"); !has {
		child.prog = s.parser.prog + " " + name
	}
	child.description = cmp.Or(child.description, c.help)
	s.commands = append(s.commands, c)
	return child
}

// addArgument declares an argument, or leaves it out where it is not known.
func (g *group) addArgument(r *reading, a *arguments) value {
	act, problem := g.parser.newAction(r, a)
	if problem == "" && r.unsure > 0 {
		problem = "depends on a condition"
	}
	if problem != "" {
		g.parser.leaveOut(act, a, problem)
		return act
	}
	g.parser.add(act, a.line)
	if g.exclusive {
		g.members = append(g.members, act)
	}
	return act
}

// leaveOut passes over an option that may be absent. Without any other argument
// no call would work, so then the whole command line is not known.
func (p *parser) leaveOut(act *action, a *arguments, problem string) {
	name := cmp.Or(strings.Join(act.flags, ", "), "an argument")
	option := slices.ContainsFunc(a.positional, func(v value) bool { // as far as its flags are known
		text, _ := v.(string)
		u, _ := v.(unknown)
		return isFlag(text) || isFlag(u.prefix)
	})
	if !option || a.named("required", false) != false {
		p.poison(a.line, "%s %s", name, problem)
		return
	}
	p.omit(a.line, act.flags, "%s %s", name, problem)
}

// inherit takes the default that the parser has for the argument.
func (a *action) inherit(p *parser, args *arguments) {
	v, given := args.get(-1, "default")
	switch {
	case given:
		a.fallback = v
	case p.defaults[a.dest] != nil:
		a.fallback = p.defaults[a.dest]
	case p.argDefault != nil && !isNone(p.argDefault):
		a.fallback = p.argDefault
	case a.kind == "store_true":
		a.fallback = false
	case a.kind == "store_false":
		a.fallback = true
	}
}

// parses are the calls of parse_args that were executed.
type parses []parse

// A parse is a call of parse_args.
type parse struct {
	parser *parser
	line   int
}

// newAction returns an argument as add_argument declares it, and why it is not known.
func (p *parser) newAction(r *reading, a *arguments) (act *action, problem string) {
	act = &action{line: a.line, kind: "store"}
	problem = act.setName(a)
	if problem == "" && a.spread {
		problem = "has settings that are computed"
	}
	if problem == "" {
		problem = act.settings(a)
	}
	if problem == "" {
		act.describe(a)
		act.negate()
		act.inherit(p, a)
	}
	return act, problem
}

func (p *parser) lose(line int) {
	p.poison(line, "the parser is given to a function of another file, which may add arguments")
}

func (g *group) lose(line int) { g.parser.lose(line) }

func (s *subparsers) lose(line int) { s.parser.lose(line) }

// setAttribute sets an attribute of a parser, or of a part of one.
func setAttribute(r *reading, object value, name string, v value, line int) {
	switch o := object.(type) {
	case *parser:
		o.setAttribute(name, v, line)
	case *action:
		switch name {
		case "required":
			o.required = v == true
		case "completer", "help", "metavar":
		default:
			r.stray = noteOn(line, "the attribute "+name+" of an argument is set")
		}
	case *subparsers:
		if name == "required" {
			o.required = v == true
		}
	}
}

// chosen returns the one parser that reads the script's arguments, and nil where
// there is none, or it is not known.
func (all parses) chosen(r *reading) *parser {
	why := r.stray
	switch at := len(all) - 1; {
	case r.steps <= 0:
		why = noteOn(0, "the script is too long to follow")
	case why != nil:
	case at < 0:
		why = r.unread
	case slices.ContainsFunc(all, func(other parse) bool { return !other.parser.precedes(all[at].parser) }):
		why = noteOn(all[at].line, "several parsers read the arguments")
	default:
		if why = all[at].parser.fault(0, new(int)); why == nil {
			return all[at].parser
		}
	}
	if why != nil {
		r.notes.Add(why.Line, "%s", why.Text)
	}
	return nil
}
