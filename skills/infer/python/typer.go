package python

import (
	"strings"

	"github.com/invopop/jsonschema"
)

// A typerParam is a call of typer.Option or typer.Argument.
type typerParam struct {
	option    bool
	arguments *arguments
}

// ellipsis is Python's ..., which typer takes for required.
type ellipsis struct{}

// typerApp makes what typer.Typer() gives: a group of commands.
func (i *interp) typerApp(a *arguments) *parser {
	p := &parser{line: a.line, dialect: clickDialect, typer: true, prog: i.prog, prefixChars: "-", defaults: map[string]value{}, flags: map[string]*action{}}
	p.description, _ = a.named("help", "").(string)
	p.name, _ = a.named("name", "").(string)
	p.subs = &subparsers{parser: p, required: a.named("invoke_without_command", false) != true}
	if a.spread {
		p.poison(a.line, "the app is made with arguments that are computed")
	}
	return p
}

// only returns the command that an app is where it has no other and no callback.
func (p *parser) only() *parser {
	if !p.typer || p.grouped || p.subs == nil || len(p.subs.commands) != 1 || p.subs.commands[0].parser.typer {
		return p
	}
	only := p.subs.commands[0].parser
	if p.broken != nil && only.broken == nil {
		only.broken = p.broken
	}
	return only
}

// typerCommand makes a command of a function's parameters.
func (i *interp) typerCommand(fn *function, a *arguments, s *scope) *parser {
	p := i.typerApp(&arguments{line: fn.line})
	p.typer, p.subs = false, nil
	p.name = strings.ReplaceAll(strings.ToLower(fn.name), "_", "-")
	if name, ok := first(a).(string); ok {
		p.name = name
	} else if name, ok := a.named("name", nil).(string); ok {
		p.name = name
	}
	p.description = strings.TrimSpace(fn.doc)
	if help, ok := a.named("help", nil).(string); ok {
		p.description = help
	}
	for _, param := range fn.params {
		i.typerDeclare(p, fn, param, s)
	}
	return p
}

func (i *interp) typerDeclare(p *parser, fn *function, param param, s *scope) {
	a := i.annotation(param.annotation, s)
	if ref, ok := i.eval(param.annotation, s).(reference); ok && (ref == "typer.Context" || ref == "click.Context") {
		return
	}
	act := &action{line: fn.line, kind: "store", dest: param.name}
	declared, standard := i.typerDefault(param, a, s)
	option := standard != nil
	settings := &arguments{}
	var names []value
	if declared != nil {
		option, settings, names = declared.option, declared.arguments, declared.arguments.positional
		if !annotatedWith(a, declared) && len(names) > 0 {
			names = names[1:]
		}
	}
	problem := act.typerType(i.choicesOf(param.annotation, s), a.schema, option)
	if param.star != "" || settings.spread || settings.named("callback", nil) != nil && standard == nil || settings.named("parser", settings.named("click_type", nil)) != nil {
		problem = "has settings that are computed"
	}
	act.describe(settings)
	act.help = strings.ReplaceAll(act.help, "%", "%%")
	act.hidden = settings.named("hidden", false) == true
	act.fallback, act.required = standard, standard == nil
	if prompt := settings.named("prompt", false); prompt != false {
		act.required = true
	}
	if option && problem == "" {
		problem = act.typerFlags(names, settings)
	}
	if !option {
		act.typerArgument()
	}
	switch {
	case problem != "" && (act.required || !option):
		p.poison(fn.line, "the parameter %s %s", param.name, problem)
	case problem != "":
		p.omit(fn.line, nil, "the parameter %s %s", param.name, problem)
	case !act.hidden || act.required:
		p.add(act, nil, fn.line)
	}
}

func annotatedWith(a annotated, declared *typerParam) bool {
	for _, extra := range a.extras {
		if extra == declared {
			return true
		}
	}
	return false
}

// typerDefault returns typer's own declaration of a parameter, and the default;
// nil where it is required.
func (i *interp) typerDefault(param param, a annotated, s *scope) (*typerParam, value) {
	var declared *typerParam
	for _, extra := range a.extras {
		if found, ok := extra.(*typerParam); ok {
			declared = found
		}
	}
	if param.fallback == nil {
		return declared, nil
	}
	v := i.eval(param.fallback, s)
	if own, ok := v.(*typerParam); ok {
		declared = own
		given, has := own.arguments.get(0, "default")
		if v = given; !has {
			return declared, nil
		}
	}
	if v == (ellipsis{}) {
		return declared, nil
	}
	return declared, v
}

// typerType takes the type from the annotation.
func (a *action) typerType(choices value, schema *jsonschema.Schema, option bool) string {
	if schema == nil {
		return "has a type that is not known"
	}
	if schema.Type == "array" {
		schema = schema.Items
		a.kind, a.nargs = "append", ""
		if !option {
			a.kind, a.nargs = "store", "*"
		}
	}
	switch {
	case choices != nil:
		a.choices = choices
	case schema.Type == "string" && schema.Enum == nil:
		a.typ = typePath // any text
	case schema.Type == "string":
		a.choices = enumValues(schema.Enum)
	case schema.Type == "integer":
		a.typ = typeInteger
	case schema.Type == "number":
		a.typ = typeNumber
	case schema.Type == "boolean":
		a.typ = typeTruth
	default:
		return "has a type that is not known"
	}
	return ""
}

func enumValues(enum []any) value {
	seq := &sequence{open: '['}
	for _, v := range enum {
		seq.items = append(seq.items, v)
	}
	return seq
}

// choicesOf returns the values of an Enum of the file, and nil for another type.
func (i *interp) choicesOf(n *node, s *scope) value {
	if n != nil && n.kind == nName {
		if named, ok := i.eval(n, s).(*alias); ok {
			n, s = named.node, named.scope
		}
	}
	if n != nil && n.kind == nSubscript {
		if base, ok := i.eval(n.kids[0], s).(reference); ok && (base.last() == "Annotated" || base.last() == "Optional") {
			if n = n.kids[1]; n.kind == nTuple && len(n.kids) > 0 {
				n = n.kids[0]
			}
		}
	}
	c, ok := i.eval(n, s).(*class)
	if !ok || n == nil {
		return nil
	}
	enum := false
	for _, parent := range c.parents {
		enum = enum || parent == reference("enum.Enum") || parent == reference("enum.StrEnum")
	}
	if !enum {
		return nil
	}
	seq := &sequence{open: '['}
	for _, member := range c.body {
		if member.kind == sAssign && len(member.targets) == 1 && member.targets[0].kind == nName {
			seq.items = append(seq.items, c.members[member.targets[0].name])
		}
	}
	return seq
}

// typerFlags takes an option's flags, or makes them of its name.
func (a *action) typerFlags(names []value, settings *arguments) string {
	given := &arguments{positional: names}
	if len(names) > 0 {
		dest := a.dest
		if problem := a.clickNames(given); problem != "" {
			return problem
		}
		a.dest = dest
	} else {
		flag := strings.ReplaceAll(a.dest, "_", "-")
		a.flags = []string{"--" + flag}
		if a.typ == typeTruth && a.kind == "store" {
			a.off = "--no-" + flag
		}
	}
	switch {
	case settings.named("count", false) == true:
		a.kind = "count"
	case a.typ == typeTruth && a.kind == "store":
		return a.clickFlag()
	}
	return ""
}

func (a *action) typerArgument() {
	switch {
	case a.nargs == "*" && a.required:
		a.nargs = "+"
	case a.nargs == "" && !a.required:
		a.nargs = "?"
	}
}

// typerMethod does what a method of an app does.
func (i *interp) typerMethod(p *parser, name string, a *arguments) (value, bool) {
	switch name {
	case "add_typer":
		child, ok := first(a).(*parser)
		if !ok {
			p.poison(a.line, "commands are added that are not known")
			return unknown{}, true
		}
		copied := *child
		if name, ok := a.named("name", nil).(string); ok {
			copied.name = name
		}
		copied.grouped, p.grouped = true, true
		if copied.name == "" {
			p.poison(a.line, "commands are added without a name")
		}
		i.subcommand(p, &copied, a.line)
		return unknown{}, true
	}
	return nil, false
}

// typerCallback takes in what @app.callback() declares.
func (i *interp) typerCallback(app *parser, fn *function, a *arguments, s *scope) {
	declared := i.typerCommand(fn, &arguments{}, s)
	app.grouped = true
	app.subs.required = app.subs.required && a.named("invoke_without_command", false) != true
	if app.broken == nil {
		app.broken = declared.broken
	}
	for _, act := range declared.actions {
		app.add(act, nil, act.line)
	}
	if app.description == "" {
		app.description = declared.description
	}
}
