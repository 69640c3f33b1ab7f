package python

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// commands is the library of click and typer.
type commands struct{ typeReader }

// newTypeReader returns a reader of annotations, with an evaluator that knows click
// and typer.
func newTypeReader(prog string, m *Module, told *notes) typeReader {
	t := typeReader{newEvaluator(prog, m, told)}
	t.eval.library = &commands{t}
	return t
}

// call evaluates a call of a function of click or typer.
func (c *commands) call(name reference, a *arguments) (value, bool) {
	switch {
	case name == "typer.Typer":
		return typerApp(c.eval.prog, a), true
	case name == "typer.run":
		if fn, ok := a.first().(*function); ok {
			c.eval.parses = append(c.eval.parses, parse{c.typerCommand(fn, &arguments{}, fn.scope), a.line})
		}
		return unknown{}, true
	case name == "typer.Option" || name == "typer.Argument" || strings.HasPrefix(string(name), "click."):
		return &libraryCall{name, a}, true
	}
	return nil, false
}

// decorate returns the command that decorators of click and typer make of a
// function, and nil where they make none.
func (c *commands) decorate(fn *function, s *scope) *parser {
	var p *parser
	var params []*libraryCall
	foreign := 0
	for _, decorator := range fn.Decorators {
		callee, a := decorator, &arguments{line: fn.Line}
		if decorator.Kind == syntax.Call {
			callee, a = decorator.Kids[0], c.eval.arguments(decorator, s)
		}
		of := c.eval.value(callee, s)
		m, _ := of.(method)
		ref, _ := of.(reference)
		group, _ := m.receiver.(*parser)
		switch {
		case ref == "click.command" || ref == "click.group":
			p = clickCommand(c.eval.prog, fn, ref.last(), a)
		case group != nil && group.typer && m.name == "command":
			p = c.typerCommand(fn, a, s)
			c.subcommand(group, p, a.line)
		case group != nil && group.typer && m.name == "callback":
			c.typerCallback(group, fn, a, s)
		case group != nil && group.dialect == clickDialect && (m.name == "command" || m.name == "group"):
			p = clickCommand(c.eval.prog, fn, m.name, a)
			c.subcommand(group, p, a.line)
		case strings.HasPrefix(string(ref), "click."):
			params = append(params, &libraryCall{ref, a})
		default:
			foreign = a.line
		}
	}
	if p == nil {
		return nil
	}
	if foreign > 0 {
		p.poison(foreign, "a decorator that is not click's may add options")
	}
	for _, param := range params {
		p.clickParam(param.name.last(), param.arguments)
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

// method evaluates a method of a command. A call of the command itself
// reads the script's arguments.
func (c *commands) method(p *parser, name string, a *arguments) value {
	switch name {
	case "", "main":
		if len(a.positional) > 0 || a.named("args", nil) != nil {
			p.poison(a.line, "the command does not read the script's arguments")
		}
		c.eval.parses = append(c.eval.parses, parse{p.only(), a.line})
	case "add_command", "add_typer":
		c.addCommand(p, name, a)
	case "command", "group":
		p.poison(a.line, "a command is added that is not known")
	}
	return unknown{}
}

// addCommand evaluates add_command of a click group and add_typer of an app.
func (c *commands) addCommand(p *parser, method string, a *arguments) {
	child, ok := a.first().(*parser)
	if !ok || child.dialect != clickDialect {
		p.poison(a.line, "a command is added that is not known")
		return
	}
	added := *child
	if name, ok := a.get(1, "name"); ok {
		added.name, _ = name.(string)
	}
	if method == "add_typer" {
		added.grouped, p.grouped = true, true
		if added.name == "" {
			p.poison(a.line, "commands are added without a name")
		}
	}
	c.subcommand(p, &added, a.line)
}
