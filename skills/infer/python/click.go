package python

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// newCommand returns a command of click or typer.
func newCommand(prog, name string, line int) *parser {
	return &parser{line: line, dialect: clickDialect, name: name, prog: prog, defaults: map[string]value{}, flags: map[string]*action{}}
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

func clickCommand(prog string, fn *function, kind string, a *arguments) *parser {
	p := commandOf(prog, fn, a)
	if a.spread || a.named("cls", syntax.None{}) != (syntax.None{}) {
		p.poison(a.line, "the command is made by a class, or with arguments, that are not known")
	}
	if _, named := a.get(0, "name"); !named && suffixed(fn.Name) {
		p.poison(a.line, "the command's name depends on click's version")
	}
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
	return slices.ContainsFunc([]string{"_command", "_cmd", "_group", "_grp"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// clickParam declares the parameter of one decorator.
func (p *parser) clickParam(kind string, a *arguments) {
	switch kind {
	case "option":
		p.clickOption(a)
	case "argument":
		p.clickArgument(a)
	case "version_option", "help_option", "pass_context", "pass_obj", "make_pass_decorator":
	default:
		p.poison(a.line, "click.%s may add options", kind)
	}
}

func (p *parser) clickOption(a *arguments) {
	act := &action{line: a.line, kind: "store"}
	problem := act.clickNames(a)
	if problem == "" {
		problem = act.clickSettings(a)
	}
	if problem != "" {
		p.leaveOut(act, a, problem)
		return
	}
	if !act.hidden || act.required {
		p.add(act, a.line)
	}
}

// clickNames takes the flags of an option: "-s", "--shout/--no-shout", "name".
func (a *action) clickNames(args *arguments) string {
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
	a.dest = cmp.Or(a.dest, clickName(strings.TrimLeft(a.longest(), "-")))
	return ""
}

// clickName returns the name of the parameter that click makes of a flag's or an
// argument's.
func clickName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }

func (a *action) clickSettings(args *arguments) string {
	a.describe(args)
	a.help = strings.ReplaceAll(a.help, "%", "%%")
	a.hidden = args.named("hidden", false) == true
	a.fallback = args.named("default", nil)
	prompt := args.named("prompt", false)
	a.required = args.named("required", false) == true || prompt != false && prompt != syntax.None{}
	isFlag, multiple := args.named("is_flag", syntax.None{}), args.named("multiple", false)
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
	typ := args.named("type", syntax.None{})
	if isNone(typ) {
		typ = inferred(a.fallback)
	}
	switch v := typ.(type) {
	case *libraryCall:
		if v.name == "click.Choice" {
			a.choices = v.first()
		}
	case reference, *function:
	default:
		return "has a type that is computed"
	}
	if a.setType(typ); a.typ == typeBool {
		a.typ = typeTruth
	}
	nargs, _ := args.named("nargs", int64(1)).(int64)
	switch {
	case nargs == -1:
		a.nargs = "*"
	case nargs < 1 || nargs > maxArguments:
		return "has nargs that are computed"
	case a.kind == "append" && nargs != 1:
		return "has lists of lists"
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
		if len(v.items) == 0 {
			break
		}
		if _, nested := v.items[0].(*sequence); !nested { // it may hold itself
			return inferred(v.items[0])
		}
	}
	return reference("builtins.str")
}

func (p *parser) clickArgument(a *arguments) {
	act := &action{line: a.line, kind: "store"}
	name, ok := a.first().(string)
	if !ok || name == "" || len(a.positional) != 1 || a.spread {
		p.poison(a.line, "an argument has a name that is computed")
		return
	}
	act.dest = clickName(name)
	act.fallback = a.named("default", nil)
	if problem := act.clickType(a); problem != "" {
		p.poison(a.line, "%s %s", name, problem)
		return
	}
	act.required = a.named("required", act.fallback == nil && act.nargs != "*") == true
	act.clickPlace()
	p.add(act, a.line)
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
