package library

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// A Commander is a command of commander.
type Commander struct {
	*js.Command
	parent *Commander
}

// maxBelow bounds the commands inside each other.
const maxBelow = 16

// A commanderItem is an Option or an Argument of commander.
type commanderItem struct {
	*js.Argument
	hidden bool
}

func newCommander(name string, parent *Commander) *Commander {
	return &Commander{Command: &js.Command{Name: name, Terminator: true}, parent: parent}
}

// Construct evaluates new Command(), new Option() and new Argument(). It reports false
// for what is not of commander.
func (e *Host) Construct(r js.Reference, args []js.Value, line int32) (js.Value, bool) {
	if r.Module() != "commander" {
		return nil, false
	}
	text, isText := js.First(args).(string)
	switch r.Last() {
	case "Command", "CommanderCommand":
		return newCommander(text, nil), true
	case "Option":
		if a := optionOf(text, line); a != nil {
			a.Description = js.StringOf(js.At(args, 1))
			return &commanderItem{Argument: a}, true
		}
	case "Argument":
		if all := positionalsOf(bracketed(text), line); isText && len(all) == 1 {
			all[0].Description = js.StringOf(js.At(args, 1))
			return &commanderItem{Argument: all[0]}, true
		}
	case "InvalidArgumentError", "InvalidOptionArgumentError", "CommanderError", "Help":
		return js.Unknown{}, true
	}
	return e.Doubt(line, "%s of commander is computed", r.Last()), true
}

// Member returns a member of a command.
func (c *Commander) Member(_ *Host, name string, _ int32) js.Value {
	if name == "args" && len(c.Positionals) == 0 {
		if c.Words == nil {
			c.Words = js.NewWordList()
			c.Words.Declared = true
		}
		return js.Words{List: c.Words}
	}
	return js.Method{Receiver: c, Name: name}
}

// Method evaluates a method of a command.
func (c *Commander) Method(e *Host, name string, args []js.Value, line int32) js.Value {
	if len(c.Options)+len(c.Positionals)+len(c.Commands) > js.MaxArguments {
		return e.Doubt(line, "there are more than %d arguments", js.MaxArguments)
	}
	switch name {
	case "option", "requiredOption", "argument", "arguments", "command", "addOption", "addArgument", "addCommand":
		if e.program.Conditional() {
			e.Doubt(line, "an argument depends on a condition")
		}
		return c.declare(e, name, args, line)
	case "action":
		c.Optional = true
		e.program.Callback(js.First(args))
	case "name":
		if text, ok := js.First(args).(string); ok && (c.parent != nil || c.Name == "") {
			c.Name = text
		}
	case "description":
		c.Description = js.StringOf(js.First(args))
	case "parse", "parseAsync":
		c.parse(e, args, line)
	case "", "opts", "optsWithGlobals", "getOptionValue", "helpInformation", "getOptionValueSource", "setOptionValue", "emit", "listenerCount", "createHelp", "outputHelp":
		return js.Unknown{}
	case "help", "error":
		return js.Never{}
	case "createCommand":
		return newCommander(js.StringOf(js.First(args)), nil)
	case "passThroughOptions", "combineFlagAndOptionalValue", "storeOptionsAsProperties":
		e.Doubt(line, "%s of commander is not understood", name)
	case "hook", "on", "exitOverride", "configureOutput", "configureHelp", "addHelpText":
		for _, arg := range args {
			e.program.Callback(arg)
		}
	}
	return c
}

// declare evaluates a method that adds an option, an argument or a command.
func (c *Commander) declare(e *Host, name string, args []js.Value, line int32) js.Value {
	switch name {
	case "option", "requiredOption":
		c.option(e, args, name == "requiredOption", line)
	case "addOption":
		if item, ok := js.First(args).(*commanderItem); ok {
			if !item.hidden || item.Required {
				c.addOption(item.Argument)
			}
			break
		}
		e.Doubt(line, "an option is added that is not known")
	case "command":
		return c.subcommand(e, args, line)
	case "addCommand":
		if sub, ok := js.First(args).(*Commander); ok && sub.Name != "" {
			c.add(sub, js.At(args, 1))
			break
		}
		e.Doubt(line, "a command is added that is not known")
	default:
		c.argument(e, name, args, line)
	}
	return c
}

// option evaluates option(flags, description, parser or default, default).
func (c *Commander) option(e *Host, args []js.Value, mandatory bool, line int32) {
	text, ok := js.First(args).(string)
	a := optionOf(text, line)
	if !ok || a == nil {
		e.Doubt(line, "an option is computed")
		return
	}
	a.Description = js.StringOf(js.At(args, 1))
	a.Required = mandatory
	parserAndDefault(a, args)
	c.addOption(a)
}

// parserAndDefault reads the arguments behind a description: a function that parses the
// value, and the default.
func parserAndDefault(a *js.Argument, args []js.Value) {
	standard := js.At(args, 2)
	switch standard.(type) {
	case *js.Closure, js.Reference:
		setParser(a, standard)
		standard = js.At(args, 3)
	}
	setStandard(a, standard)
}

// setStandard sets the default of an option of commander.
func setStandard(a *js.Argument, v js.Value) {
	if js.IsNone(v) {
		return
	}
	a.Tested = true
	if constant, ok := js.ToJSON(v); ok {
		a.Default = constant
	}
}

// setParser sets the type of a value by the function that parses it.
func setParser(a *js.Argument, v js.Value) {
	switch v := v.(type) {
	case js.Reference:
		switch v {
		case "parseInt", "Number.parseInt":
			a.SetType("integer")
		case "parseFloat", "Number", "Number.parseFloat":
			a.SetType("number")
		}
	case *js.Closure:
		setClosureParser(a, v)
	}
}

// setClosureParser sets the type of a value by the calls of a function of the source. One
// that adds to its second parameter collects the values of several options.
func setClosureParser(a *js.Argument, c *js.Closure) {
	var previous *syntax.Node
	if len(c.Params) > 1 {
		if previous = c.Params[1]; previous.Kind == syntax.Assign {
			previous = previous.Kids[0]
		}
	}
	typ, lists, collects := "", false, false
	c.Body.Each(func(n *syntax.Node) bool {
		switch {
		case n.Kind == syntax.Name && previous != nil && n.Name == previous.Name:
			collects = true
		case n.Kind == syntax.Call:
			name := n.Kids[0].Dotted()
			lists = lists || strings.HasSuffix(name, ".split")
			switch name {
			case "parseInt", "Number.parseInt":
				typ = "integer"
			case "parseFloat", "Number", "Number.parseFloat":
				typ = "number"
			}
		}
		return true
	})
	if typ != "" && !lists {
		a.SetType(typ)
	}
	switch {
	case collects && a.Kind == cli.Switch:
		a.Kind = cli.Count
	case collects && a.Kind == cli.Value:
		a.List = true
	}
}

// addOption adds an option to a command. --no-x belongs to the option --x.
func (c *Commander) addOption(a *js.Argument) {
	if js.IsHelp(a.Flag) && len(a.Flag) > 2 {
		return
	}
	for _, other := range c.Options {
		switch {
		case a.Kind != cli.Switch || other.Kind != cli.Switch || a.Inverse == other.Inverse || a.Name != other.Name:
		case a.Inverse:
			other.Off = a.Flag
			return
		default:
			other.Off, other.Flag, other.Inverse = other.Flag, a.Flag, false
			other.Description, other.Default = a.Description, a.Default
			return
		}
	}
	a.Required = a.Required && a.Default == nil
	c.Options = append(c.Options, a)
}

// argument evaluates argument, arguments and addArgument.
func (c *Commander) argument(e *Host, name string, args []js.Value, line int32) {
	if item, ok := js.First(args).(*commanderItem); ok && name == "addArgument" {
		c.Positionals = append(c.Positionals, item.Argument)
		return
	}
	text, ok := js.First(args).(string)
	if !ok {
		e.Doubt(line, "an argument is computed")
		return
	}
	if name == "argument" {
		text = bracketed(text)
	}
	all := positionalsOf(text, line)
	if len(all) == 1 && name == "argument" {
		a := all[0]
		a.Description = js.StringOf(js.At(args, 1))
		list := a.List
		parserAndDefault(a, args)
		a.List = list
	}
	c.Positionals = append(c.Positionals, all...)
}

// subcommand evaluates command("name <x>", …), which returns the new command.
func (c *Commander) subcommand(e *Host, args []js.Value, line int32) js.Value {
	text, ok := js.First(args).(string)
	if !ok {
		return e.Doubt(line, "a command is computed")
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	sub := newCommander(name, c)
	sub.Positionals = positionalsOf(rest, line)
	if _, described := js.At(args, 1).(string); described {
		e.Doubt(line, "the command %s is a program of its own", name)
	}
	c.add(sub, js.At(args, 1))
	return sub
}

func (c *Commander) add(sub *Commander, config js.Value) {
	sub.parent = c
	if o, ok := config.(*js.Object); ok {
		c.Optional = c.Optional || o.Values["isDefault"] == true
		if o.Values["hidden"] == true || o.Values["noHelp"] == true {
			return
		}
	}
	c.Commands = append(c.Commands, sub.Command)
}

// parse evaluates parse(argv, {from}).
func (c *Commander) parse(e *Host, args []js.Value, line int32) {
	from := -2
	if config, ok := js.At(args, 1).(*js.Object); ok && config.Values["from"] == "user" {
		from = 0
	}
	if len(args) > 0 && !e.ReadsProcess(args[0], from) {
		e.Doubt(line, "commander does not read the script's arguments")
		return
	}
	for depth := 0; c.parent != nil && depth < maxBelow; depth++ { // a command may be its own parent
		c = c.parent
	}
	c.Name = ""
	e.Parsed(line, c.Command)
}

// Member returns a method of an Option or an Argument.
func (c *commanderItem) Member(_ *Host, name string, _ int32) js.Value {
	return js.Method{Receiver: c, Name: name}
}

// Method evaluates a method of an Option or an Argument.
func (c *commanderItem) Method(_ *Host, name string, args []js.Value, _ int32) js.Value {
	switch name {
	case "default":
		setStandard(c.Argument, js.First(args))
	case "choices":
		if texts, ok := js.TextsOf(js.First(args)); ok {
			c.Choose(texts)
		}
	case "argParser":
		list := c.List
		setParser(c.Argument, js.First(args))
		c.List = c.List || list
	case "makeOptionMandatory", "argRequired":
		c.Required = js.First(args) != false
	case "hideHelp":
		c.hidden = js.First(args) != false
	case "argOptional":
		c.Required, c.Least = false, 0
	}
	return c
}
