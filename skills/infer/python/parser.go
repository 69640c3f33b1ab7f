package python

import (
	"fmt"
	"slices"
	"strings"
)

// A parser is an argparse.ArgumentParser, or a command of click or typer.
type parser struct {
	dialect     dialect
	name        string // of a command of click
	typer       bool   // an app of typer
	grouped     bool   // an app that has commands even where it has only one
	line        int
	class       *class // of the file, where it is one
	prog        string
	description string
	fromFile    string // the characters that make an argument a file's name
	argDefault  value
	defaults    map[string]value
	actions     []*action
	flags       map[string]*action
	parents     []*parser
	subs        *subparsers
	mutexes     []*group
	broken      *Note // why its command line is not known
	omitted     []omission
	lenient     bool // the script accepts arguments that its parser does not know
}

// An omission is an option, or a sub-command, that is not known well enough.
type omission struct {
	note  Note
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
		p.broken = &Note{line, fmt.Sprintf(format, args...)}
	}
}

// omit records an argument that is left out. It is reported only where the parser's
// command line is known: without one, nothing is left out.
func (p *parser) omit(line int, names []string, format string, args ...any) {
	if len(p.omitted) < maxNotes {
		p.omitted = append(p.omitted, omission{Note{line, fmt.Sprintf(format, args...) + " and is left out"}, names})
	}
}

// tellOmitted reports the arguments that are left out, unless they are declared
// elsewhere as well.
func (p *parser) tellOmitted(told *notes) {
	for _, o := range p.omitted {
		if !slices.ContainsFunc(o.names, func(name string) bool { return p.flags[name] != nil || p.subs != nil && p.subs.find(name) != nil }) {
			told.add(o.note.Line, "%s", o.note.Text)
		}
	}
}

// add registers an argument, whose flags must be new.
func (p *parser) add(act *action, g *group, line int) {
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
	if g != nil {
		g.members = append(g.members, act)
	}
}

// inherit takes over the arguments of a parent.
func (p *parser) inherit(parent *parser, line int) {
	if parent.broken != nil && p.broken == nil {
		p.broken = parent.broken
	}
	if parent.subs != nil {
		p.poison(line, "a parent of the parser has sub-commands")
	}
	p.parents = append(p.parents, parent)
	p.omitted = append(p.omitted, parent.omitted...)
	for _, act := range parent.actions {
		p.add(act, nil, line)
	}
	for name, v := range parent.defaults {
		p.defaults[name] = v
	}
	p.mutexes = append(p.mutexes, parent.mutexes...)
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

// precedes reports whether the arguments of p are the other parser's too: it is a
// parent of it, or was made by the same call.
func (p *parser) precedes(other *parser) bool {
	return p == other || slices.Contains(other.parents, p) || p.line == other.line && len(p.actions) == len(other.actions)
}

const (
	// maxCommands is how many sub-commands there may be on all levels.
	maxCommands = 256
	// maxCommandDepth is how deeply sub-commands may have sub-commands.
	maxCommandDepth = 8
)

// fault returns why a parser, or one of its sub-commands, is not known.
func (p *parser) fault(depth int, commands *int) *Note {
	if p.broken != nil {
		return p.broken
	}
	if *commands++; *commands > maxCommands {
		return &Note{0, fmt.Sprintf("it has more than %d sub-commands", maxCommands)}
	}
	if p.subs == nil {
		return nil
	}
	if depth == maxCommandDepth {
		return &Note{0, "its sub-commands nest too deeply"}
	}
	for _, c := range p.subs.commands {
		if note := c.parser.fault(depth+1, commands); note != nil {
			return note
		}
	}
	for _, act := range p.actions[p.subs.after:] {
		if act.positional() {
			return &Note{act.line, "a positional argument comes after the sub-commands"}
		}
	}
	return nil
}

// newParser evaluates ArgumentParser(…), or the constructor of a class of the file
// that comes from it.
func (i *interp) newParser(c *class, a *arguments) *parser {
	p := &parser{line: a.line, class: c, prog: i.prog, defaults: map[string]value{}, flags: map[string]*action{}}
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
	switch chars := a.named("fromfile_prefix_chars", none{}).(type) {
	case string:
		p.fromFile = chars
	case none:
	default:
		p.poison(a.line, "fromfile_prefix_chars is computed")
	}
	p.argDefault = a.named("argument_default", nil)
	if is, known := truth(a.named("add_help", true)); is || !known {
		p.add(&action{flags: []string{"-h", "--help"}, kind: "help", dest: "help", hidden: true}, nil, a.line)
	}
	if parents, ok := a.get(-1, "parents"); ok {
		i.addParents(p, parents, a.line)
	}
	return p
}

// checkClass poisons a parser whose class changes what it accepts.
func (p *parser) checkClass(line int) {
	if p.class == nil {
		return
	}
	for _, own := range []string{"__init__", "add_argument", "parse_args", "parse_known_args", "_get_option_tuples", "convert_arg_line_to_args", "add_subparsers"} {
		if _, ok := p.class.member(own); ok {
			p.poison(line, "the parser's class has a method %s of its own", own)
		}
	}
	if p.class.relevant() {
		p.poison(line, "the parser's class declares arguments")
	}
}

func (i *interp) addParents(p *parser, parents value, line int) {
	items, ok := iterable(parents)
	if !ok {
		p.poison(line, "the parents of the parser are computed")
		return
	}
	for _, item := range items {
		parent, ok := item.(*parser)
		if !ok {
			p.poison(line, "a parent of the parser is not known")
			continue
		}
		if !i.charge(len(parent.actions)+len(parent.defaults)) || len(p.mutexes)+len(parent.mutexes) > maxArguments || len(p.parents) == maxArguments {
			p.poison(line, "the parser has too many parents")
			return
		}
		p.inherit(parent, line)
	}
}

// parserMethod does what a method of a parser does.
func (i *interp) parserMethod(p *parser, name string, a *arguments) value {
	if p.dialect == clickDialect {
		return i.clickMethod(p, name, a)
	}
	switch name {
	case "add_argument", "add_argument_group", "add_mutually_exclusive_group", "set_defaults":
		return i.groupMethod(&group{parser: p}, name, a)
	case "add_subparsers":
		return i.addSubparsers(p, a)
	case "parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args":
		i.parsed(p, name, a)
	case "_add_action", "_add_container_actions", "_remove_action", "_handle_conflict_resolve":
		p.poison(a.line, "the parser is changed with %s", name)
	default:
		i.escape(a)
	}
	return unknown{}
}

// groupMethod does what a method of a parser and of its groups does.
func (i *interp) groupMethod(g *group, name string, a *arguments) value {
	switch name {
	case "add_argument":
		return i.addArgument(g.parser, g, a)
	case "add_argument_group":
		return &group{parser: g.parser}
	case "add_mutually_exclusive_group":
		either := &group{parser: g.parser, exclusive: true, required: a.named("required", false) == true}
		g.parser.mutexes = append(g.parser.mutexes, either)
		return either
	case "set_defaults":
		i.setDefaults(g.parser, a)
	default:
		i.escape(a)
	}
	return unknown{}
}

func (i *interp) setDefaults(p *parser, a *arguments) {
	for _, k := range a.keywords {
		v := k.value
		if i.unsure > 0 {
			v = unknown{}
		}
		p.defaults[k.name] = v
		for _, act := range p.actions {
			if act.dest == k.name {
				act.fallback = v
			}
		}
	}
}

// parsed records a call of parse_args, which must read the script's own arguments.
func (i *interp) parsed(p *parser, name string, a *arguments) {
	from, ok := a.get(0, "args")
	if !ok {
		from = none{}
	}
	switch v := from.(type) {
	case none:
	case argvector:
		if v != 1 {
			p.poison(a.line, "%s reads sys.argv from %d", name, v)
		}
	case unknown:
		if !v.parameter {
			p.poison(a.line, "what %s reads is computed", name)
		}
	default:
		p.poison(a.line, "%s does not read the script's arguments", name)
	}
	p.lenient = p.lenient || strings.Contains(name, "_known_")
	i.parses = append(i.parses, parse{p, a.line})
}

func (i *interp) addSubparsers(p *parser, a *arguments) value {
	if i.unsure > 0 {
		p.poison(a.line, "whether there are sub-commands depends on a condition")
	}
	if p.subs != nil || a.spread {
		p.poison(a.line, "its sub-commands are computed")
	}
	s := &subparsers{parser: p, required: a.named("required", false) == true, class: p.class, after: len(p.actions)}
	if s.dest, _ = a.named("dest", none{}).(string); s.dest == suppress {
		s.dest = ""
	}
	if given, ok := a.get(-1, "parser_class"); ok {
		c, is := given.(*class)
		if s.class = c; !(is && c.comesFrom("ArgumentParser", "argparse")) && given != reference("argparse.ArgumentParser") {
			p.poison(a.line, "the class of its sub-commands is not known")
		}
	}
	s.help, _ = a.named("help", none{}).(string)
	p.subs = s
	return s
}

// subparsersMethod does what add_parser does.
func (i *interp) subparsersMethod(s *subparsers, method string, a *arguments) value {
	if method != "add_parser" {
		i.escape(a)
		return unknown{}
	}
	child := i.newParser(s.class, &arguments{line: a.line, keywords: a.keywords, spread: a.spread})
	name, ok := a.first().(string)
	switch {
	case !ok:
		s.parser.omit(a.line, nil, "a sub-command has a name that is computed")
		return child
	case i.unsure > 0:
		s.parser.omit(a.line, []string{name}, "the sub-command %s depends on a condition", name)
		return child
	case len(s.commands) == maxArguments || s.find(name) != nil:
		s.parser.poison(a.line, "the sub-command %s is one too many", name)
		return child
	}
	c := &command{name: name, parser: child}
	c.help, _ = a.named("help", none{}).(string)
	if _, has := a.get(-1, "prog"); !has {
		child.prog = s.parser.prog + " " + name
	}
	aliases, _ := iterable(a.named("aliases", none{}))
	for _, alias := range aliases {
		if text, is := alias.(string); is {
			c.others = append(c.others, text)
		}
	}
	if child.description == "" && c.help != suppress {
		child.description = c.help
	}
	s.commands = append(s.commands, c)
	return child
}
