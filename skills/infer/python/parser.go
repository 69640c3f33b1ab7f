package python

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// A parser is an argparse.ArgumentParser as far as it was followed.
type parser struct {
	dialect     dialect
	name        string // of a command of click
	typer       bool   // an app of typer
	grouped     bool   // an app that has commands even where it has only one
	line        int
	class       *class // of the file, where it is one
	prog        string
	description string
	prefixChars string
	fromFile    string // the characters that make an argument a file's name
	resolve     bool   // conflict_handler="resolve"
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

// A group is an argument group of a parser.
type group struct {
	parser    *parser
	exclusive bool
	required  bool
	members   []*action
}

// subparsers is what add_subparsers gives.
type subparsers struct {
	parser   *parser
	dest     string // "" where it has none
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

// poison says that the parser's arguments are not known; the first reason
// counts.
func (p *parser) poison(line int, format string, args ...any) {
	if p.broken == nil {
		p.broken = &Note{line, fmt.Sprintf(format, args...)}
	}
}

func (i *interp) newParser(c *class, a *arguments) value {
	p := &parser{line: a.line, class: c, prog: i.prog, prefixChars: "-", defaults: map[string]value{}, flags: map[string]*action{}}
	if c != nil {
		for _, own := range []string{"__init__", "add_argument", "parse_args", "parse_known_args", "_get_option_tuples", "convert_arg_line_to_args", "add_subparsers"} {
			if _, ok := c.member(own); ok {
				p.poison(a.line, "the parser's class has a method %s of its own", own)
			}
		}
	}
	p.configure(i, a)
	return p
}

// configure takes the arguments of ArgumentParser.
func (p *parser) configure(i *interp, a *arguments) {
	if a.spread {
		p.poison(a.line, "the parser is made with arguments that are computed")
	}
	if prog, ok := a.get(0, "prog"); ok {
		if text, is := prog.(string); is {
			p.prog = text
		}
	}
	description, _ := a.get(2, "description")
	p.description, _ = description.(string)
	p.description = strings.ReplaceAll(strings.TrimSpace(p.description), "%(prog)s", p.prog)
	if prefix, ok := a.text("prefix_chars"); !ok {
		p.poison(a.line, "prefix_chars is computed")
	} else if prefix != "" {
		p.prefixChars = prefix
	}
	var ok bool
	if p.fromFile, ok = a.text("fromfile_prefix_chars"); !ok {
		p.poison(a.line, "fromfile_prefix_chars is computed")
	}
	p.resolve = a.named("conflict_handler", "error") == "resolve"
	p.argDefault = a.named("argument_default", nil)
	if is, known := truth(a.named("add_help", true)); is || !known {
		help := &action{flags: []string{p.dash() + "h", p.dash() + p.dash() + "help"}, kind: "help", dest: "help", hidden: true}
		p.add(help, nil, a.line)
	}
	p.inherit(i, a)
}

// dash is the prefix of the parser's own -h.
func (p *parser) dash() string {
	if strings.Contains(p.prefixChars, "-") {
		return "-"
	}
	return p.prefixChars[:1]
}

// inherit takes over the arguments of parents.
func (p *parser) inherit(i *interp, a *arguments) {
	parents, ok := a.get(-1, "parents")
	if !ok {
		return
	}
	items, ok := iterable(parents)
	if !ok {
		p.poison(a.line, "the parents of the parser are computed")
		return
	}
	for _, item := range items {
		parent, ok := item.(*parser)
		if !ok {
			p.poison(a.line, "a parent of the parser is not known")
			continue
		}
		if !i.charge(len(parent.actions)+len(parent.defaults)) || len(p.mutexes)+len(parent.mutexes) > maxArguments || len(p.parents) == maxArguments {
			p.poison(a.line, "the parser has too many parents")
			return
		}
		p.take(parent, a.line)
	}
}

func (p *parser) take(parent *parser, line int) {
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

// add registers an action, as argparse does: its flags must be new, or replace
// those of others where the parser resolves conflicts.
func (p *parser) add(act *action, g *group, line int) {
	if len(p.actions) == maxArguments {
		p.poison(line, "it has more than %d arguments", maxArguments)
		return
	}
	for _, flag := range act.flags {
		other := p.flags[flag]
		switch {
		case other == nil:
		case !p.resolve:
			p.poison(line, "the option %s is declared twice", flag)
		default:
			p.release(other, flag)
		}
		p.flags[flag] = act
	}
	p.actions = append(p.actions, act)
	if g != nil {
		g.members = append(g.members, act)
	}
}

// release takes a flag from an action, and the action away with its last flag.
func (p *parser) release(act *action, flag string) {
	act.flags = slices.DeleteFunc(slices.Clone(act.flags), func(f string) bool { return f == flag })
	if len(act.flags) == 0 {
		p.actions = slices.DeleteFunc(p.actions, func(a *action) bool { return a == act })
	}
}

func (p *parser) setAttribute(name string, v value, line int) {
	switch name {
	case "description":
		p.description, _ = v.(string)
	case "prog":
		if text, ok := v.(string); ok {
			p.prog = text
		}
	case "epilog", "usage", "formatter_class", "exit_on_error", "allow_abbrev":
	case "_positionals", "_optionals", "_action_groups":
	default:
		if p.class == nil {
			p.poison(line, "the parser's attribute %s is set", name)
		}
	}
}

// parserMethod does what a method of a parser does.
func (i *interp) parserMethod(p *parser, name string, a *arguments) value {
	if p.dialect == clickDialect {
		return i.clickMethod(p, name, a)
	}
	switch name {
	case "add_argument":
		return i.addArgument(p, nil, a)
	case "add_argument_group":
		return &group{parser: p}
	case "add_mutually_exclusive_group":
		return newExclusive(p, a)
	case "add_subparsers":
		return i.addSubparsers(p, a)
	case "set_defaults":
		i.setDefaults(p, a)
	case "parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args":
		i.parsed(p, name, a)
	case "print_help", "print_usage", "format_help", "format_usage", "error", "exit", "get_default", "register", "_print_message":
	case "_add_action", "_add_container_actions", "_remove_action", "_handle_conflict_resolve":
		p.poison(a.line, "the parser is changed with %s", name)
	default:
		i.escape(a)
	}
	return unknown{}
}

func (i *interp) groupMethod(g *group, name string, a *arguments) value {
	switch name {
	case "add_argument":
		return i.addArgument(g.parser, g, a)
	case "add_argument_group":
		return &group{parser: g.parser}
	case "add_mutually_exclusive_group":
		return newExclusive(g.parser, a)
	case "set_defaults":
		i.setDefaults(g.parser, a)
	default:
		i.escape(a)
	}
	return unknown{}
}

func newExclusive(p *parser, a *arguments) value {
	g := &group{parser: p, exclusive: true, required: a.named("required", false) == true}
	p.mutexes = append(p.mutexes, g)
	return g
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

// parsed notes a call of parse_args, which must read the script's own
// arguments.
func (i *interp) parsed(p *parser, name string, a *arguments) {
	from, ok := a.get(0, "args")
	if !ok {
		from = none{}
	}
	switch v := from.(type) {
	case none:
	case argvector:
		if v.from != 1 {
			p.poison(a.line, "%s reads sys.argv from %d", name, v.from)
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
	s := &subparsers{parser: p, required: a.named("required", false) == true}
	dest := a.named("dest", none{})
	s.dest, _ = dest.(string)
	if s.dest == suppress {
		s.dest = ""
	}
	s.class = p.class
	if given, ok := a.get(-1, "parser_class"); ok {
		c, is := given.(*class)
		if s.class = c; !(is && c.parserClass()) && given != reference("argparse.ArgumentParser") {
			p.poison(a.line, "the class of its sub-commands is not known")
		}
	}
	help, _ := a.get(-1, "help")
	s.help, _ = help.(string)
	p.subs = s
	s.after = len(p.actions)
	return s
}

func (i *interp) subparsersMethod(s *subparsers, method string, a *arguments) value {
	if method != "add_parser" {
		i.escape(a)
		return unknown{}
	}
	child := i.newParser(s.class, &arguments{line: a.line, keywords: a.keywords, spread: a.spread}).(*parser)
	name, ok := first(a).(string)
	if !ok {
		s.parser.omit(a.line, nil, "a sub-command has a name that is computed")
		return child
	}
	if i.unsure > 0 {
		s.parser.omit(a.line, []string{name}, "the sub-command %s depends on a condition", name)
		return child
	}
	if len(s.commands) == maxArguments || s.find(name) != nil {
		s.parser.poison(a.line, "the sub-command %s is one too many", name)
		return child
	}
	c := &command{name: name, parser: child}
	c.help, _ = a.named("help", none{}).(string)
	if _, has := a.get(-1, "prog"); !has {
		child.prog = s.parser.prog + " " + name
	}
	if aliases, ok := iterable(a.named("aliases", none{})); ok {
		for _, alias := range aliases {
			if text, is := alias.(string); is {
				c.others = append(c.others, text)
			}
		}
	}
	if child.description == "" && c.help != suppress {
		child.description = c.help
	}
	s.commands = append(s.commands, c)
	return child
}

func (s *subparsers) find(name string) *command {
	for _, c := range s.commands {
		if c.name == name || slices.Contains(c.others, name) {
			return c
		}
	}
	return nil
}

func textSequence(texts []string) value {
	sort.Strings(texts)
	seq := &sequence{open: '['}
	for _, text := range texts {
		seq.items = append(seq.items, text)
	}
	return seq
}
