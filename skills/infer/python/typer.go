package python

import (
	"cmp"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// newCommand returns a command of typer.
func newCommand(prog, name string, line int) *parser {
	return &parser{line: line, dialect: typerDialect, name: name, prog: prog, defaults: map[string]value{}, flags: map[string]*action{}}
}

// commandOf returns the command of a function, with the arguments of its decorator.
func commandOf(prog string, fn *function, a *arguments) *parser {
	p := newCommand(prog, strings.ReplaceAll(strings.ToLower(fn.Name), "_", "-"), fn.Line)
	given, _ := a.get(0, "name")
	if name, ok := given.(string); ok {
		p.name = name
	}
	p.description, _, _ = strings.Cut(cmp.Or(a.help(), fn.Doc()), "\f")
	p.description = strings.TrimSpace(p.description)
	return p
}

// typerApp returns the value of typer.Typer(): a group of commands.
func typerApp(prog string, a *arguments) *parser {
	name, _ := a.named("name", "").(string)
	p := newCommand(prog, name, a.line)
	p.typer = true
	p.description, _ = a.named("help", "").(string)
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
	only.broken = cmp.Or(only.broken, p.broken)
	return only
}

// typerCommand makes a command of a function's parameters.
func (t typeReader) typerCommand(fn *function, a *arguments, s *scope) *parser {
	p := commandOf(t.eval.prog, fn, a)
	for _, param := range fn.Params {
		t.typerDeclare(p, fn, param, s)
	}
	return p
}

// typerDeclare declares one parameter.
func (t typeReader) typerDeclare(p *parser, fn *function, param syntax.Param, s *scope) {
	if ref, ok := t.eval.value(param.Annotation, s).(reference); ok && (ref == "typer.Context" || ref == "click.Context") {
		return
	}
	schema, extras := t.annotation(param.Annotation, s)
	act := &action{line: fn.Line, kind: "store", dest: param.Name}
	settings, names := &arguments{}, []value(nil)
	declared, standard := t.typerDefault(param, extras, s)
	option := standard != nil
	if declared != nil {
		option, settings, names = declared.name == "typer.Option", declared.arguments, declared.positional
		if !slices.Contains(extras, value(declared)) && len(names) > 0 {
			names = names[1:] // the default
		}
	}
	problem := act.typerType(t.choicesOf(param.Annotation, s), schema, option)
	if param.Star != "" || settings.spread || settings.named("callback", nil) != nil && standard == nil || settings.named("parser", settings.named("click_type", nil)) != nil {
		problem = "has settings that are computed"
	}
	act.describe(settings)
	act.help = strings.ReplaceAll(act.help, "%", "%%")
	act.hidden = settings.named("hidden", false) == true
	act.fallback, act.required = standard, standard == nil || settings.named("prompt", false) != false
	if !option {
		act.typerPlace()
	} else if problem == "" {
		problem = act.typerFlags(names, settings)
	}
	switch {
	case problem != "" && (act.required || !option):
		p.poison(fn.Line, "the parameter %s %s", param.Name, problem)
	case problem != "":
		p.omit(fn.Line, nil, "the parameter %s %s", param.Name, problem)
	case !act.hidden || act.required:
		p.add(act, fn.Line)
	}
}

// typerDefault returns typer's own declaration of a parameter, and the default;
// nil where it is required.
func (t typeReader) typerDefault(param syntax.Param, extras []value, s *scope) (declared *libraryCall, standard value) {
	if param.Fallback != nil {
		standard = t.eval.value(param.Fallback, s)
	}
	for _, v := range append([]value{standard}, extras...) {
		if call, ok := v.(*libraryCall); ok && strings.HasPrefix(string(call.name), "typer.") {
			declared = call
		}
	}
	if declared != nil && standard == value(declared) {
		standard, _ = declared.get(0, "default")
	}
	if standard == (syntax.Ellipsis{}) {
		standard = nil
	}
	return declared, standard
}

// typerType takes the type from the annotation.
func (a *action) typerType(choices *sequence, schema *jsonschema.Schema, option bool) string {
	if schema == nil {
		return "has a type that is not known"
	}
	if schema.Type == "array" {
		schema = schema.Items
		a.kind = "append"
		if !option {
			a.kind, a.nargs = "store", "*"
		}
	}
	types := map[string]valueType{"string": typePath /* any text */, "integer": typeInteger, "number": typeNumber, "boolean": typeTruth}
	typ, known := types[schema.Type]
	switch {
	case choices != nil:
		a.choices = choices
	case schema.Enum != nil && schema.Type == "string":
		seq := &sequence{open: '['}
		for _, v := range schema.Enum {
			seq.items = append(seq.items, v)
		}
		a.choices = seq
	case !known:
		return "has a type that is not known"
	default:
		a.typ = typ
	}
	return ""
}

// typerFlags takes an option's flags, or makes them of its name.
func (a *action) typerFlags(names []value, settings *arguments) string {
	dest := a.dest
	if len(names) > 0 {
		if problem := a.typerNames(&arguments{positional: names}); problem != "" {
			return problem
		}
		a.dest = dest
	} else {
		flag := strings.ReplaceAll(dest, "_", "-")
		a.flags = []string{"--" + flag}
		if a.typ == typeTruth && a.kind == "store" {
			a.off = "--no-" + flag
		}
	}
	switch {
	case settings.named("count", false) == true:
		a.kind = "count"
	case a.typ == typeTruth && a.kind == "store":
		return a.typerSwitch()
	}
	return ""
}

// typerCallback takes in the arguments that @app.callback() declares.
func (t typeReader) typerCallback(app *parser, fn *function, a *arguments, s *scope) {
	declared := t.typerCommand(fn, &arguments{}, s)
	app.grouped = true
	app.subs.required = app.subs.required && a.named("invoke_without_command", false) != true
	app.broken = cmp.Or(app.broken, declared.broken)
	for _, act := range declared.actions {
		app.add(act, act.line)
	}
	app.description = cmp.Or(app.description, declared.description)
}

// typerNames takes the flags of an option: "-s", "--shout/--no-shout", "name".
func (a *action) typerNames(args *arguments) string {
	for _, v := range args.positional {
		text, _ := v.(string)
		on, off, two := strings.Cut(text, "/")
		on, off = strings.TrimSpace(on), strings.TrimSpace(off)
		switch {
		case text == "":
			return "has flags that are computed"
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
	a.dest = cmp.Or(a.dest, typerName(strings.TrimLeft(a.longest(), "-")))
	return ""
}

// typerName returns the name of the parameter that typer makes of a flag's or an
// argument's.
func typerName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }

func (a *action) typerSwitch() string {
	if a.off != "" {
		a.kind = "boolean"
		a.flags = append(a.flags, a.off)
		return ""
	}
	a.kind = "store_true"
	if a.fallback != nil && a.fallback != false && !isNone(a.fallback) {
		return "is a flag whose meaning depends on typer's version"
	}
	a.fallback = false
	return ""
}

// typerPlace gives a positional argument the nargs of argparse that accept as many
// values.
func (a *action) typerPlace() {
	switch {
	case a.nargs == "*" && a.required:
		a.nargs = "+"
	case a.nargs == "" && !a.required:
		a.nargs = "?"
	}
}
