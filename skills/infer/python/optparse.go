package python

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
)

// newOptionParser evaluates optparse.OptionParser(…).
func (r *reading) newOptionParser(a *arguments) *parser {
	p := r.newOptionGroup(a.line)
	if a.spread || a.named("option_class", none{}) != (none{}) {
		p.poison(a.line, "the parser is made with arguments that are computed")
	}
	usage, _ := a.get(0, "usage")
	p.usage, _ = usage.(string)
	description, _ := a.get(5, "description")
	p.description, _ = description.(string)
	p.description = strings.ReplaceAll(p.description, "%prog", r.prog)
	if is, known := truth(a.named("add_help_option", true)); is || !known {
		p.add(&action{flags: []string{"-h", "--help"}, kind: "help", dest: "help", hidden: true}, a.line)
	}
	if version, _ := a.get(3, "version"); version != nil && !isNone(version) {
		p.add(&action{flags: []string{"--version"}, kind: "version", dest: "version", hidden: true}, a.line)
	}
	if list, given := a.get(1, "option_list"); given && !isNone(list) {
		options, ok := iterable(list)
		if !ok {
			p.poison(a.line, "the options of the parser are computed")
		}
		for _, option := range options {
			p.addOption(r, &arguments{line: a.line, positional: []value{option}})
		}
	}
	return p
}

// newOptionGroup returns a parser for the options of a group.
func (r *reading) newOptionGroup(line int) *parser {
	return &parser{line: line, dialect: optparseDialect, prog: r.prog, defaults: map[string]value{}, flags: map[string]*action{}}
}

// optparseMethod evaluates a method of an optparse.OptionParser, or of an OptionGroup.
func (p *parser) optparseMethod(r *reading, name string, a *arguments) value {
	switch name {
	case "add_option":
		p.addOption(r, a)
	case "add_options":
		options, ok := iterable(a.first())
		if !ok {
			p.poison(a.line, "the options of the parser are computed")
		}
		for _, option := range options {
			p.addOption(r, &arguments{line: a.line, positional: []value{option}})
		}
	case "add_option_group":
		return p.addOptionGroup(r, a)
	case "set_defaults":
		p.setDefaults(r, a)
	case "set_usage":
		p.usage, _ = a.first().(string)
	case "parse_args":
		for _, g := range p.groups {
			p.inherit(g, a.line)
		}
		p.groups = nil
		p.parsed(r, name, a)
	case "remove_option", "set_default", "set_conflict_handler", "set_process_default_values":
		p.poison(a.line, "the parser is changed with %s", name)
	default:
		giveAway(a)
	}
	return unknown{}
}

// addOptionGroup adds the options of a group when the command line is read: more may
// join it until then.
func (p *parser) addOptionGroup(r *reading, a *arguments) value {
	g, ok := a.first().(*parser)
	switch _, title := a.first().(string); {
	case title:
		g = r.newOptionGroup(a.line)
	case !ok || g.dialect != optparseDialect:
		p.poison(a.line, "a group of options is added that is not known")
		return unknown{}
	}
	if r.unsure > 0 {
		g.poison(a.line, "a group of options depends on a condition")
	}
	p.groups = append(p.groups, g)
	return g
}

// addOption declares an option, or leaves it out where it is not known.
func (p *parser) addOption(r *reading, a *arguments) {
	if call, ok := a.first().(*libraryCall); ok && len(a.positional) == 1 {
		a = call.arguments
	}
	act := &action{line: a.line, kind: "store"}
	problem := act.setName(a)
	switch {
	case problem == "" && act.positional():
		problem = "has no flags"
	case problem == "":
		problem = act.optparseSettings(a)
	}
	if problem == "" && r.unsure > 0 {
		problem = "depends on a condition"
	}
	if problem != "" {
		p.leaveOut(act, a, problem)
		return
	}
	act.inherit(p, a)
	act.optparseHelp(a)
	p.add(act, a.line)
}

// optparseSettings takes the action, the type, the number of values and the choices.
func (a *action) optparseSettings(args *arguments) string {
	if args.spread {
		return "has settings that are computed"
	}
	if problem := a.setKind(args.named("action", "store")); problem != "" {
		return problem
	}
	switch n := args.named("nargs", int64(1)).(type) {
	case int64:
		if n > maxArguments || n < 1 {
			return "has nargs that are not known"
		}
		if n > 1 {
			a.nargs, _ = nargsOf(n)
		}
	case none:
	default:
		return "has nargs that are computed"
	}
	typ := args.named("type", none{})
	if text, ok := typ.(string); ok {
		known := map[string]value{"string": none{}, "str": none{}, "choice": none{}, "int": reference("builtins.int"), "long": reference("builtins.int"), "float": reference("builtins.float"), "complex": reference("builtins.complex")}
		if typ = known[text]; typ == nil {
			return "has a type that is not known"
		}
	}
	if !isNone(typ) && !slices.Contains([]value{reference("builtins.str"), reference("builtins.int"), reference("builtins.float"), reference("builtins.complex")}, typ) {
		return "has a type that is not known"
	}
	a.setType(typ)
	a.constant = args.named("const", nil)
	if v := args.named("choices", none{}); !isNone(v) {
		a.choices = v
	}
	return ""
}

// optparseHelp takes the help text, with %default and %prog as argparse writes them.
func (a *action) optparseHelp(args *arguments) {
	a.describe(args)
	standard := "%(default)s"
	if v := args.named("default", a.fallback); v == nil || isNone(v) {
		standard = "none"
	}
	a.help = strings.ReplaceAll(a.help, "%", "%%")
	a.help = strings.NewReplacer("%%default", standard, "%%prog", "%(prog)s").Replace(a.help)
}

// addPlaces adds the positional arguments that a script reads of the list that
// parse_args of optparse returns. The note says why they are not known.
func (m *Module) addPlaces(p *parser) *Note {
	if p.broken != nil {
		return nil
	}
	l := m.follow(m.readers("parse_args"), nil, true)
	found := newWordParser(p.prog)
	texts := m.usage()
	if p.usage != "" {
		texts = append([]string{"usage: " + strings.ReplaceAll(p.usage, "%prog", p.prog)}, texts...)
	}
	if note := l.parser(found, usagetext.Parse(texts...), m.comment); note != nil {
		return note
	}
	for _, act := range found.actions {
		p.add(act, act.line)
	}
	return nil
}
