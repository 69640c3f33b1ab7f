package python

import (
	"strings"
)

// newCommand returns a command of click or typer.
func (i *interp) newCommand(name string, line int) *parser {
	return &parser{line: line, dialect: clickDialect, name: name, prog: i.prog, defaults: map[string]value{}, flags: map[string]*action{}}
}

// commandName returns the name that click gives a function's command.
func commandName(function string) string {
	return strings.ReplaceAll(strings.ToLower(function), "_", "-")
}

// decorate returns the command that decorators of click and typer make of a
// function, and nil where they make none.
func (i *interp) decorate(fn *function, s *scope) *parser {
	var p *parser
	var params []*libraryCall
	foreign := 0
	for _, decorator := range fn.decorators {
		callee, a := decorator, &arguments{line: fn.line}
		if decorator.kind == nCall {
			callee, a = decorator.kids[0], i.arguments(decorator, s)
		}
		of := i.eval(callee, s)
		m, _ := of.(method)
		ref, _ := of.(reference)
		group, _ := m.receiver.(*parser)
		switch {
		case ref == "click.command" || ref == "click.group":
			p = i.clickCommand(fn, ref.last(), a)
		case group != nil && group.typer && m.name == "command":
			p = i.typerCommand(fn, a, s)
			i.subcommand(group, p, a.line)
		case group != nil && group.typer && m.name == "callback":
			i.typerCallback(group, fn, a, s)
		case group != nil && group.dialect == clickDialect && (m.name == "command" || m.name == "group"):
			p = i.clickCommand(fn, m.name, a)
			i.subcommand(group, p, a.line)
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
		i.clickParam(p, param.name.last(), param.arguments)
	}
	return p
}

func (i *interp) clickCommand(fn *function, kind string, a *arguments) *parser {
	p := i.newCommand(commandName(fn.name), fn.line)
	given, ok := a.get(0, "name")
	if text, is := given.(string); is {
		p.name = text
	}
	if a.spread || a.named("cls", none{}) != (none{}) {
		p.poison(a.line, "the command is made by a class, or with arguments, that are not known")
	}
	if !ok && suffixed(fn.name) {
		p.poison(a.line, "the command's name depends on click's version")
	}
	p.description, _ = a.named("help", fn.doc).(string)
	p.description, _, _ = strings.Cut(p.description, "\f")
	p.description = strings.TrimSpace(p.description)
	if kind == "group" {
		p.subs = &subparsers{parser: p, required: a.named("invoke_without_command", false) != true}
		if a.named("chain", false) != false {
			p.poison(a.line, "several of its commands can be given at once")
		}
	}
	return p
}

// suffixed reports whether click 8.2 and later shorten a function's name.
func suffixed(name string) bool {
	for _, suffix := range []string{"_command", "_cmd", "_group", "_grp"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

func (i *interp) subcommand(group, child *parser, line int) {
	switch {
	case group.subs == nil:
		group.poison(line, "a command that is no group has commands")
	case i.unsure > 0:
		group.omit(line, []string{child.name}, "the command %s depends on a condition", child.name)
	case len(group.subs.commands) == maxArguments || group.subs.find(child.name) != nil:
		group.poison(line, "the command %s is one too many", child.name)
	default:
		help, _, _ := strings.Cut(child.description, "\n\n")
		group.subs.commands = append(group.subs.commands, &command{name: child.name, help: strings.ReplaceAll(help, "%", "%%"), parser: child})
	}
}

// clickMethod does what a method of a command does. A call of the command itself
// reads the script's arguments.
func (i *interp) clickMethod(p *parser, name string, a *arguments) value {
	switch name {
	case "", "main":
		if len(a.positional) > 0 || a.named("args", nil) != nil {
			p.poison(a.line, "the command does not read the script's arguments")
		}
		i.parses = append(i.parses, parse{p.only(), a.line})
	case "add_command", "add_typer":
		i.addCommand(p, name, a)
	case "command", "group":
		p.poison(a.line, "a command is added that is not known")
	}
	return unknown{}
}

// addCommand does what add_command of a click group and add_typer of an app do.
func (i *interp) addCommand(p *parser, method string, a *arguments) {
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
	i.subcommand(p, &added, a.line)
}

// clickParam declares the parameter of one decorator.
func (i *interp) clickParam(p *parser, kind string, a *arguments) {
	switch kind {
	case "option":
		i.clickOption(p, a)
	case "argument":
		i.clickArgument(p, a)
	case "confirmation_option":
		p.add(&action{line: a.line, kind: "store_true", flags: []string{"--yes"}, dest: "yes", help: "Confirm without being asked.", required: true}, nil, a.line)
	case "password_option":
		p.poison(a.line, "it asks for a password")
	case "version_option", "help_option", "pass_context", "pass_obj", "make_pass_decorator":
	default:
		p.poison(a.line, "click.%s may add options", kind)
	}
}

func (i *interp) clickOption(p *parser, a *arguments) {
	act := &action{line: a.line, kind: "store"}
	problem := act.clickNames(a)
	if problem == "" {
		problem = act.clickSettings(a)
	}
	if problem != "" {
		i.leaveOut(p, act, a, problem)
		return
	}
	if !act.hidden || act.required {
		p.add(act, nil, a.line)
	}
}

// clickNames takes the flags of an option: "-s", "--shout/--no-shout", "name".
func (a *action) clickNames(args *arguments) string {
	for _, v := range args.positional {
		text, ok := v.(string)
		if !ok || text == "" {
			return "has flags that are computed"
		}
		on, off, two := strings.Cut(text, "/")
		on, off = strings.TrimSpace(on), strings.TrimSpace(off)
		switch {
		case !isFlag(text) && !two:
			a.dest = text
			continue
		case two && isFlag(off) && a.off == "" || two && strings.HasPrefix(off, "--"):
			a.off = off
		}
		if on != "" {
			a.flags = append(a.flags, on)
		}
	}
	if len(a.flags) == 0 || args.spread {
		return "has flags that are computed"
	}
	if a.dest == "" {
		a.dest = strings.ToLower(strings.ReplaceAll(strings.TrimLeft(a.longest(), "-"), "-", "_"))
	}
	return ""
}

func (a *action) clickSettings(args *arguments) string {
	a.describe(args)
	a.help = strings.ReplaceAll(a.help, "%", "%%")
	a.hidden = args.named("hidden", false) == true
	a.fallback = args.named("default", nil)
	prompt := args.named("prompt", false)
	a.required = args.named("required", false) == true || prompt != false && prompt != none{}
	isFlag, multiple := args.named("is_flag", none{}), args.named("multiple", false)
	switch {
	case isUnknown(isFlag) || isUnknown(multiple) || args.named("callback", nil) != nil && a.required:
		return "has settings that are computed"
	case args.named("count", false) == true:
		a.kind = "count"
		return ""
	case args.named("flag_value", nil) != nil:
		if multiple == true || a.off != "" {
			return "has a flag_value and more"
		}
		a.kind = "store_const"
		return ""
	case isFlag == true || isNone(isFlag) && a.off != "":
		return a.clickFlag()
	case multiple == true:
		a.kind = "append"
	}
	return a.clickType(args)
}

func (a *action) clickFlag() string {
	if a.off != "" {
		a.kind = "boolean"
		a.flags = append(a.flags, a.off)
		return ""
	}
	a.kind = "store_true"
	if a.fallback != nil && a.fallback != false && !isNone(a.fallback) {
		return "is a flag whose meaning depends on click's version"
	}
	a.fallback = false
	return ""
}

func (a *action) clickType(args *arguments) string {
	typ, given := args.get(-1, "type")
	if !given || isNone(typ) {
		typ = inferred(a.fallback)
	}
	switch v := typ.(type) {
	case *libraryCall:
		a.typ = clickTypeOf(v.name)
		if v.name == "click.Choice" {
			a.choices = v.first()
		}
	case reference:
		a.typ = clickTypeOf(v)
	case *function:
		a.typ = typeFunction
	default:
		return "has a type that is computed"
	}
	a.file = fileUseOf(typ)
	nargs, ok := args.named("nargs", int64(1)).(int64)
	switch {
	case !ok || nargs < -1 || nargs == 0 || nargs > maxArguments:
		return "has nargs that are computed"
	case nargs == -1:
		a.nargs = "*"
	case nargs > 1:
		a.nargs, _ = nargsOf(nargs)
	}
	return ""
}

// inferred is the type that click takes from a default.
func inferred(v value) value {
	switch v := v.(type) {
	case bool:
		return reference("builtins.bool")
	case int64:
		return reference("builtins.int")
	case float64:
		return reference("builtins.float")
	case *sequence:
		if len(v.items) > 0 {
			return inferred(v.items[0])
		}
	}
	return reference("builtins.str")
}

func clickTypeOf(v reference) valueType {
	switch v {
	case "builtins.str", "click.STRING", "click.UNPROCESSED", "click.Choice":
		return typeString
	case "builtins.int", "click.INT", "click.IntRange":
		return typeInteger
	case "builtins.float", "click.FLOAT", "click.FloatRange":
		return typeNumber
	case "builtins.bool", "click.BOOL":
		return typeTruth
	case "pathlib.Path", "click.Path", "click.File":
		return typePath
	}
	return typeFunction
}

func (i *interp) clickArgument(p *parser, a *arguments) {
	act := &action{line: a.line, kind: "store"}
	name, ok := a.first().(string)
	if !ok || name == "" || len(a.positional) != 1 || a.spread {
		p.poison(a.line, "an argument has a name that is computed")
		return
	}
	act.dest = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	act.fallback = a.named("default", nil)
	if problem := act.clickType(a); problem != "" {
		p.poison(a.line, "%s %s", name, problem)
		return
	}
	act.required = a.named("required", act.fallback == nil && act.nargs != "*") == true
	act.clickPlace()
	p.add(act, nil, a.line)
}

// clickPlace gives a positional argument the nargs of argparse that accept as many
// values.
func (a *action) clickPlace() {
	switch {
	case a.nargs == "*" && a.required:
		a.nargs = "+"
	case a.nargs == "" && !a.required:
		a.nargs = "?"
	}
}
