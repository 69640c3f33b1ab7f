package python

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// commands is the library of typer.
type commands struct{ typeReader }

// newTypeReader returns a reader of annotations, with an evaluator that knows
// typer.
func newTypeReader(prog string, m *Module, told *notes) typeReader {
	t := typeReader{newEvaluator(prog, m, told)}
	t.eval.library = &commands{t}
	return t
}

// call evaluates a call of a function of typer.
func (c *commands) call(name reference, a *arguments) (value, bool) {
	switch {
	case name == "typer.Typer":
		return typerApp(c.eval.prog, a), true
	case name == "typer.run":
		if fn, ok := a.first().(*function); ok {
			c.eval.parses = append(c.eval.parses, parse{c.typerCommand(fn, &arguments{}, fn.scope), a.line})
		}
		return unknown{}, true
	case name == "typer.Option" || name == "typer.Argument":
		return &libraryCall{name, a}, true
	}
	return nil, false
}

// decorate returns the command that decorators of typer make of a function, and nil where
// they make none.
func (c *commands) decorate(fn *function, s *scope) *parser {
	var p *parser
	foreign := 0
	for _, decorator := range fn.Decorators {
		callee, a := decorator, &arguments{line: fn.Line}
		if decorator.Kind == syntax.Call {
			callee, a = decorator.Kids[0], c.eval.arguments(decorator, s)
		}
		m, _ := c.eval.value(callee, s).(method)
		app, _ := m.receiver.(*parser)
		switch {
		case app != nil && app.typer && m.name == "command":
			p = c.typerCommand(fn, a, s)
			c.subcommand(app, p, a.line)
		case app != nil && app.typer && m.name == "callback":
			c.typerCallback(app, fn, a, s)
		default:
			foreign = a.line
		}
	}
	if p != nil && foreign > 0 {
		p.poison(foreign, "a decorator that is not typer's may add options")
	}
	return p
}

func (c *commands) subcommand(group, child *parser, line int) {
	switch {
	case group.subs == nil:
		group.poison(line, "a command that is no group has commands")
	case c.eval.unsure > 0:
		group.omit(line, []string{child.name}, "the command %s depends on a condition", child.name)
	case len(group.subs.commands) == maxArguments || group.subs.find(child.name) != nil:
		group.poison(line, "the command %s is one too many", child.name)
	default:
		help, _, _ := strings.Cut(child.description, "\n\n")
		group.subs.commands = append(group.subs.commands, &command{name: child.name, help: strings.ReplaceAll(help, "%", "%%"), parser: child})
	}
}

// method evaluates a method of an app. A call of the app itself reads the script's
// arguments.
func (c *commands) method(p *parser, name string, a *arguments) value {
	switch name {
	case "":
		if len(a.positional) > 0 || a.named("args", nil) != nil {
			p.poison(a.line, "the command does not read the script's arguments")
		}
		c.eval.parses = append(c.eval.parses, parse{p.only(), a.line})
	case "add_typer":
		c.addApp(p, a)
	case "command":
		p.poison(a.line, "a command is added that is not known")
	}
	return unknown{}
}

// addApp evaluates add_typer of an app.
func (c *commands) addApp(p *parser, a *arguments) {
	child, ok := a.first().(*parser)
	if !ok || child.dialect != typerDialect {
		p.poison(a.line, "a command is added that is not known")
		return
	}
	added := *child
	if name, ok := a.get(1, "name"); ok {
		added.name, _ = name.(string)
	}
	if added.grouped, p.grouped = true, true; added.name == "" {
		p.poison(a.line, "commands are added without a name")
	}
	c.subcommand(p, &added, a.line)
}
