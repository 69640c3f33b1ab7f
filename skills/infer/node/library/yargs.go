package library

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// A yargs is a program of yargs, or the builder of one of its commands.
type yargs struct {
	*js.Command
	parent   *yargs
	shared   bool // the program that all modules share
	standard bool // a command is chosen without a name
	declared map[string]*yargsPositional
}

type yargsPositional = js.Argument

func newYargs(parent *yargs) *yargs {
	return &yargs{Command: &js.Command{Terminator: true, Numbers: true, First: true}, parent: parent, declared: map[string]*js.Argument{}}
}

// Member returns a member of a program. Its argv is parsed.
func (y *yargs) Member(e *Host, name string, line int32) js.Value {
	if name == "argv" {
		return y.parse(e, line)
	}
	return js.Method{Receiver: y, Name: name}
}

// parse returns the values of all options.
func (y *yargs) parse(e *Host, line int32) js.Value {
	for y.parent != nil {
		y = y.parent
	}
	y.Options = deleteHelp(y.Options)
	y.Guarded = false
	e.Parsed(line, y.Command)
	return &js.Options{Command: y.Command, Key: "_", Open: true, Line: line}
}

// Method evaluates a method of a program; "" is a call of the program itself.
func (y *yargs) Method(e *Host, name string, args []js.Value, line int32) js.Value {
	if len(y.Options)+len(y.Positionals)+len(y.Commands) > js.MaxArguments {
		return e.Doubt(line, "there are more than %d arguments", js.MaxArguments)
	}
	key, isText := js.First(args).(string)
	switch name {
	case "":
		return y.start(e, args, line)
	case "parse", "parseSync", "parseAsync":
		if len(args) > 0 && !e.ReadsProcess(args[0], 0) {
			e.Doubt(line, "yargs does not read the script's arguments")
		}
		return y.parse(e, line)
	case "option", "options", "positional":
		y.addOptions(e, name == "positional", args, line)
	case "command", "commands":
		y.subcommand(e, args, line)
	case "usage":
		if isText && strings.HasPrefix(key, "$0") && len(args) > 1 {
			y.subcommand(e, args, line)
		} else if isText {
			e.Texts = append(e.Texts, strings.ReplaceAll(key, "$0", "prog.js"))
		}
	case "demandOption", "require", "required", "demand":
		if n, ok := js.First(args).(float64); ok {
			y.demandWords(int(n))
			break
		}
		y.forEach(e, args, line, func(a *js.Argument, _ js.Value) { a.Required = true })
	case "demandCommand":
		n, ok := js.First(args).(float64)
		if !ok {
			n = 1
		}
		if y.Must = len(y.Commands) > 0; !y.Must {
			y.demandWords(int(n))
		}
		y.Demanded = true
	case "boolean", "string", "number", "array", "count", "normalize":
		y.forEach(e, args, line, func(a *js.Argument, _ js.Value) { yargsType(a, name) })
	case "alias", "describe", "default", "choices", "conflicts", "coerce", "nargs", "requiresArg", "hide", "implies":
		y.property(e, name, args, line)
	case "parserConfiguration", "env", "config", "pkgConf", "commandDir":
		if name != "parserConfiguration" || y.configures(js.First(args)) {
			e.Doubt(line, "%s of yargs is not understood", name)
		}
	case "showHelp", "getHelp":
		return js.Unknown{}
	case "exit":
		return js.Never{}
	case "check", "middleware", "fail", "completion":
		for _, arg := range args {
			e.program.Callback(arg)
		}
	}
	return y
}

// configures reports whether a configuration of the parser changes how words are read.
func (y *yargs) configures(v js.Value) bool {
	config, ok := v.(*js.Object)
	if !ok || config.Open {
		return true
	}
	for _, key := range config.Keys {
		switch key {
		case "camel-case-expansion", "strip-aliased", "strip-dashed", "duplicate-arguments-array", "flatten-duplicate-arrays", "dot-notation", "parse-numbers", "parse-positional-numbers", "set-placeholder-key", "sort-commands", "greedy-arrays", "combine-arrays":
		case "boolean-negation":
			for _, o := range y.Options {
				o.Off = ""
			}
			y.NoOff = config.Values[key] == false
		default:
			return true
		}
	}
	return false
}

// start evaluates yargs(argv): without process.argv it is parsed later.
func (y *yargs) start(e *Host, args []js.Value, line int32) js.Value {
	if len(args) > 0 && !e.ReadsProcess(args[0], 0) {
		if list, ok := args[0].(*js.Array); !ok || len(list.Items) > 0 {
			e.Doubt(line, "yargs does not read the script's arguments")
		}
	}
	if y.shared && len(y.Options)+len(y.Commands)+len(y.Positionals) == 0 {
		return y
	}
	return newYargs(nil)
}

// option returns the option of a key, which it adds.
func (y *yargs) option(key string, line int32) *js.Argument {
	if a := y.declared[key]; a != nil {
		return a
	}
	if a := y.Find(key); a != nil {
		return a
	}
	a := js.NewOption(line, "--"+key)
	a.Undeclared = true
	y.Options = append(y.Options, a)
	return a
}

// demandWords requires positionals.
func (y *yargs) demandWords(n int) {
	if y.Words == nil {
		y.Words = js.NewWordList()
		y.Words.Declared = true
	}
	y.Words.AtLeast(n)
}

// forEach calls do for the option of a key, of each of a list, or of an object's.
func (y *yargs) forEach(e *Host, args []js.Value, line int32, do func(*js.Argument, js.Value)) {
	if o, ok := js.First(args).(*js.Object); ok && !o.Open {
		for _, key := range o.Keys {
			do(y.option(key, line), o.Values[key])
		}
		return
	}
	keys, ok := js.TextsOf(js.First(args))
	if !ok {
		e.Doubt(line, "an option of yargs is computed")
		return
	}
	for _, key := range keys {
		do(y.option(key, line), js.At(args, 1))
	}
}

// property evaluates alias(key, names) and its like.
func (y *yargs) property(e *Host, name string, args []js.Value, line int32) {
	key, _ := js.First(args).(string)
	if names, ok := js.TextsOf(js.At(args, 1)); ok && name == "alias" && y.Find(key) == nil {
		for _, other := range names {
			if a := y.Find(other); a != nil { // the names may change places
				a.AddName(key)
				return
			}
		}
	}
	y.forEach(e, args, line, func(a *js.Argument, v js.Value) {
		o := js.NewObject(0)
		o.Set(name, v)
		y.settings(e, a, o, line)
	})
}

// addOptions evaluates option(key, settings), options({…}) and positional.
func (y *yargs) addOptions(e *Host, positional bool, args []js.Value, line int32) {
	if e.program.Conditional() {
		e.Doubt(line, "an argument depends on a condition")
	}
	if all, ok := js.First(args).(*js.Object); ok {
		if all.Open {
			e.Doubt(line, "an option of yargs is computed")
		}
		for _, key := range all.Keys {
			y.addOption(e, key, all.Values[key], line)
		}
		return
	}
	key, ok := js.First(args).(string)
	if !ok {
		e.Doubt(line, "an option of yargs is computed")
		return
	}
	if positional && y.declared[key] == nil { // one that the command does not name
		y.declared[key] = &js.Argument{Argument: &cli.Argument{Name: key}}
	}
	y.addOption(e, key, js.At(args, 1), line)
}

func (y *yargs) addOption(e *Host, key string, settings js.Value, line int32) {
	a := y.option(key, line)
	switch settings := settings.(type) {
	case *js.Object:
		if settings.Open {
			e.Doubt(line, "the option %s of yargs is computed", key)
		}
		y.settings(e, a, settings, line)
	case js.Undefined:
	default:
		e.Doubt(line, "the option %s of yargs is computed", key)
	}
}

// settings sets the parts of an option.
func (y *yargs) settings(e *Host, a *js.Argument, settings *js.Object, line int32) {
	for _, key := range settings.Keys {
		v := settings.Values[key]
		text, isText := v.(string)
		switch key {
		case "type":
			if !isText {
				e.Doubt(line, "the type of an option is computed")
			}
			yargsType(a, text)
		case "boolean", "string", "number", "array", "count":
			if v == true {
				yargsType(a, key)
			}
		case "describe", "description", "desc":
			a.Description = text
		case "demandOption", "demand", "require", "required":
			a.Required = v == true || isText
		case "default":
			yargsDefault(a, v)
		case "alias":
			names, ok := js.TextsOf(v)
			if !ok {
				e.Doubt(line, "an alias is computed")
			}
			for _, name := range names {
				a.AddName(name)
			}
		case "choices":
			yargsChoices(a, v)
		case "hidden", "hide":
			a.Hidden = v != false
		case "conflicts":
			names, _ := js.TextsOf(v)
			for _, name := range names {
				if other := y.Find(name); other != nil {
					a.Excludes = append(a.Excludes, other.Flag)
				}
			}
		case "nargs":
			if v != 1.0 && v != 0.0 && isUnknownCount(v) {
				e.Doubt(line, "nargs of yargs is not understood")
			}
		case "coerce":
			e.program.Callback(v)
		}
	}
	if y.NoOff {
		a.Off = ""
	}
	if a.Required && a.Default != nil {
		a.Required = false
	}
}

func isUnknownCount(v js.Value) bool { _, is := v.(js.Undefined); return !is }

// yargsType sets the type of an option.
func yargsType(a *js.Argument, name string) {
	a.Undeclared = false
	switch name {
	case "boolean":
		if a.Flag == "" {
			a.Item = js.TypeOf("boolean")
			break
		}
		a.Kind, a.Off = cli.Switch, "--no-"+strings.TrimLeft(a.Flag, "-")
	case "number":
		if a.Item == nil || len(a.Item.Enum) == 0 {
			a.Item = js.TypeOf("number")
		} else {
			a.Item.Type = "number"
		}
	case "array":
		a.List = true
		if a.Required && a.Flag == "" {
			a.Least = 1
		}
	case "count":
		a.Kind = cli.Count
	}
}

// yargsDefault sets the default, which shows the type of an option without one.
func yargsDefault(a *js.Argument, v js.Value) {
	if js.IsNone(v) {
		return
	}
	constant, ok := js.ToJSON(v)
	if ok {
		a.Default = constant
	}
	if !a.Undeclared || !ok {
		return
	}
	switch constant.(type) {
	case bool:
		yargsType(a, "boolean")
	case string:
	case []any:
		a.List = true
	default:
		yargsType(a, "number")
	}
}

// yargsChoices sets the values that an option may have.
func yargsChoices(a *js.Argument, v js.Value) {
	list, ok := v.(*js.Array)
	if !ok || list.Open {
		return
	}
	constants, ok := js.ToJSON(v)
	if !ok {
		return
	}
	item := js.TypeOf("string")
	for _, constant := range constants.([]any) {
		if _, isText := constant.(string); !isText {
			item.Type = "number"
		}
		item.Enum = append(item.Enum, constant)
	}
	if item.Type == "number" && slices.ContainsFunc(item.Enum, func(v any) bool { _, isText := v.(string); return isText }) {
		return
	}
	a.Item = item
	a.Undeclared = false
}

// subcommand evaluates command(name, description, builder, handler) and command({…}).
func (y *yargs) subcommand(e *Host, args []js.Value, line int32) {
	if e.program.Conditional() {
		e.Doubt(line, "a command depends on a condition")
	}
	if list, ok := js.First(args).(*js.Array); ok && len(list.Items) > 0 {
		if _, isText := list.Items[0].(string); !isText {
			for _, item := range list.Items {
				y.subcommand(e, []js.Value{item}, line)
			}
			return
		}
	}
	name, description, builder, handler := js.First(args), js.At(args, 1), js.At(args, 2), js.At(args, 3)
	if o, ok := js.First(args).(*js.Object); ok {
		name, _ = js.Entry(o, "command")
		description, _ = js.Entry(o, "describe", "description", "desc")
		builder, _ = js.Entry(o, "builder")
		handler, _ = js.Entry(o, "handler")
		aliases, _ := js.Entry(o, "aliases")
		if others, ok := js.TextsOf(aliases); ok && slices.ContainsFunc(others, isStandard) {
			y.standard = true
		}
	}
	names, ok := js.TextsOf(name)
	if !ok || len(names) == 0 {
		e.Doubt(line, "a command of yargs is computed")
		return
	}
	word, rest, _ := strings.Cut(names[0], " ")
	standard := isStandard(word)
	sub := newYargs(y)
	if standard {
		sub.Command = y.Command
		sub.declared = y.declared
	}
	sub.Positionals = positionalsOf(rest, line)
	for _, p := range sub.Positionals {
		p.Undeclared = true
		sub.declared[p.Name] = p
	}
	if !standard {
		sub.Name = word
		if description == false {
			return
		}
		sub.Description, _ = description.(string)
		y.Commands = append(y.Commands, sub.Command)
		y.Must = y.Demanded && !y.standard
		y.standard = y.standard || slices.ContainsFunc(names[1:], isStandard)
	} else {
		y.standard = len(names) == 1
		if text, ok := description.(string); ok && y.parent == nil {
			y.Description = text
		}
	}
	sub.build(e, builder, line)
	e.program.Callback(handler)
	sub.Options = deleteHelp(sub.Options)
}

func isStandard(name string) bool { return name == "$0" || name == "*" }

// build evaluates the function, or the object, with a command's options.
func (sub *yargs) build(e *Host, builder js.Value, line int32) {
	switch b := builder.(type) {
	case *js.Closure:
		e.program.Apply(b, []js.Value{sub}, false)
	case *js.Object:
		sub.addOptions(e, false, []js.Value{b}, line)
	case js.Undefined, js.Null, bool:
	default:
		e.Doubt(line, "the options of a command of yargs are computed")
	}
}
