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
	parent    *Commander
	acts      bool // it has an action
	standard  bool // it is chosen without a name
	asMembers bool // options are members of the command
	ignored   []string
	below     []*Commander
	settled   bool
}

// maxBelow bounds the commands inside each other.
const maxBelow = 16

// A commanderItem is an Option or an Argument of commander.
type commanderItem struct {
	*js.Argument
	mandatory bool
	excludes  []string // names of options
}

func IsCommander(r js.Reference) bool { return r.Module() == "commander" }

func newCommander(name string, parent *Commander) *Commander {
	return &Commander{Command: &js.Command{Name: name, Terminator: true}, parent: parent}
}

// ConstructCommander evaluates new Command(), new Option() and new Argument().
func (e *Host) ConstructCommander(r js.Reference, args []js.Value, line int32) js.Value {
	text, isText := js.First(args).(string)
	switch r.Last() {
	case "Command", "CommanderCommand":
		return newCommander(text, nil)
	case "Option":
		if a := optionOf(text, line); a != nil {
			a.Description, _ = js.At(args, 1).(string)
			return &commanderItem{Argument: a}
		}
	case "Argument":
		if all := positionalsOf(bracketed(text), line); isText && len(all) == 1 {
			all[0].Description, _ = js.At(args, 1).(string)
			return &commanderItem{Argument: all[0]}
		}
	case "InvalidArgumentError", "InvalidOptionArgumentError", "CommanderError", "Help":
		return js.Unknown{}
	}
	return e.Doubt(line, "%s of commander is computed", r.Last())
}

func (c *Commander) Member(_ *Host, name string, _ int32) js.Value {
	if name == "args" && len(c.Positionals) == 0 {
		if c.Words == nil {
			c.Words = js.NewWordList()
			c.Words.Declared = true
		}
		return js.Words{List: c.Words, From: 0}
	}
	if a := c.Find(name); a != nil && c.asMembers {
		return js.Given{Argument: a, Derived: true}
	}
	return js.Method{Receiver: c, Name: name}
}

// Method evaluates a method of a command.
func (c *Commander) Method(e *Host, name string, args []js.Value, line int32) js.Value {
	if e.program.Conditional() && (name == "option" || name == "argument" || name == "requiredOption" || name == "command" || name == "addOption") {
		e.Doubt(line, "an argument depends on a condition")
	}
	if len(c.Options)+len(c.Positionals)+len(c.Commands) > js.MaxArguments {
		return e.Doubt(line, "there are more than %d arguments", js.MaxArguments)
	}
	switch name {
	case "":
		return js.Unknown{}
	case "option", "requiredOption":
		c.option(e, args, name == "requiredOption", line)
	case "addOption":
		item, ok := js.First(args).(*commanderItem)
		if !ok {
			e.Doubt(line, "an option is added that is not known")
			break
		}
		c.addOption(item.Argument, item.mandatory, item.excludes)
	case "argument", "arguments", "addArgument":
		c.addArgument(e, name, args, line)
	case "command":
		return c.subcommand(e, args, line)
	case "addCommand":
		sub, ok := js.First(args).(*Commander)
		if !ok || sub.Name == "" {
			e.Doubt(line, "a command is added that is not known")
			break
		}
		config, _ := js.At(args, 1).(*js.Object)
		c.add(sub, config)
	case "action":
		c.acts = true
		e.program.Callback(js.First(args))
	case "name", "description", "version":
		c.describe(name, args)
	case "parse", "parseAsync":
		c.parse(e, args, line)
	case "opts", "optsWithGlobals":
		return &js.Options{Command: &js.Command{}, Line: line}
	case "storeOptionsAsProperties":
		c.asMembers = true
	case "getOptionValue", "helpInformation", "getOptionValueSource", "setOptionValue", "emit", "listenerCount", "createHelp":
		return js.Unknown{}
	case "help", "error":
		return js.Never{}
	case "outputHelp":
		return js.Unknown{}
	case "createCommand":
		return newCommander(js.StringOf(js.First(args)), nil)
	case "passThroughOptions", "combineFlagAndOptionalValue":
		e.Doubt(line, "%s of commander is not understood", name)
	case "hook", "on", "exitOverride", "configureOutput", "configureHelp", "addHelpText":
		for _, arg := range args {
			e.program.Callback(arg)
		}
	}
	return c
}

// describe evaluates name, description and version.
func (c *Commander) describe(name string, args []js.Value) {
	text, isText := js.First(args).(string)
	switch name {
	case "name":
		if isText && (c.parent != nil || c.Name == "") {
			c.Name = text
		}
	case "description":
		if isText {
			c.Description = text
		}
		if described, ok := js.At(args, 1).(*js.Object); ok {
			for _, p := range c.Positionals {
				p.Description, _ = described.Values[p.Name].(string)
			}
		}
	case "version":
		if flags, ok := js.At(args, 1).(string); ok {
			c.ignored = append(c.ignored, flags)
		}
	}
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
	third := js.At(args, 2)
	standard := third
	switch third.(type) {
	case *js.Closure, js.Reference, js.Regexp:
		setParser(a, third)
		standard = js.At(args, 3)
	}
	setStandard(a, standard)
	c.addOption(a, mandatory, nil)
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
		v.Count++
		setClosureParser(a, v)
	}
}

// setClosureParser sets the type of a value by what a function of the source does. One that
// adds to its second parameter collects the values of several options.
func setClosureParser(a *js.Argument, c *js.Closure) {
	previous := ""
	if len(c.Params) > 1 {
		p := c.Params[1]
		if p.Kind == syntax.Assign {
			p = p.Kids[0]
		}
		previous = p.Name
	}
	integer, float, collects := false, false, false
	c.Body.Each(func(n *syntax.Node) bool {
		switch {
		case n.Kind == syntax.Call && (n.Kids[0].Dotted() == "parseInt" || n.Kids[0].Dotted() == "Number.parseInt"):
			integer = true
		case n.Kind == syntax.Call && (n.Kids[0].Dotted() == "parseFloat" || n.Kids[0].Dotted() == "Number" || n.Kids[0].Dotted() == "Number.parseFloat"):
			float = true
		case n.Kind == syntax.Name && n.Name == previous && previous != "":
			collects = true
		}
		return true
	})
	lists := c.Body.Any(func(n *syntax.Node) bool {
		return n.Kind == syntax.Call && strings.HasSuffix(n.Kids[0].Dotted(), ".split")
	})
	switch {
	case lists:
	case integer:
		a.SetType("integer")
	case float:
		a.SetType("number")
	}
	switch {
	case collects && a.Kind == cli.Switch:
		a.Kind = cli.Count
	case collects && a.Kind == cli.Value:
		a.List = true
	}
}

// addOption adds an option to a command. --no-x belongs to the option --x.
func (c *Commander) addOption(a *js.Argument, mandatory bool, excludes []string) {
	a.Conflicts = excludes
	if a.Inverse {
		for _, other := range c.Options {
			if other.Kind == cli.Switch && !other.Inverse && other.Name == a.Name {
				other.Off = a.Flag
				return
			}
		}
	} else if a.Kind == cli.Switch {
		for _, other := range c.Options {
			if other.Inverse && other.Name == a.Name {
				other.Off, other.Flag, other.Inverse = other.Flag, a.Flag, false
				other.Description, other.Default = a.Description, a.Default
				return
			}
		}
	}
	a.Required = mandatory && a.Default == nil
	if a.Hidden && !a.Required {
		return
	}
	c.Options = append(c.Options, a)
}

// addArgument evaluates argument, arguments and addArgument.
func (c *Commander) addArgument(e *Host, name string, args []js.Value, line int32) {
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
		standard := js.At(args, 2)
		switch standard.(type) {
		case *js.Closure, js.Reference:
			list := a.List
			setParser(a, standard)
			a.List = list
			standard = js.At(args, 3)
		}
		setStandard(a, standard)
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
	config, _ := js.At(args, 1).(*js.Object)
	c.add(sub, config)
	return sub
}

func (c *Commander) add(sub *Commander, config *js.Object) {
	sub.parent = c
	if config != nil {
		c.standard = c.standard || config.Values["isDefault"] == true
		if config.Values["hidden"] == true || config.Values["noHelp"] == true {
			return
		}
	}
	c.Commands = append(c.Commands, sub.Command)
	c.below = append(c.below, sub)
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
	c.settle(0)
	c.Name = ""
	e.Parsed(line, c.Command)
}

// settle completes the commands below.
func (c *Commander) settle(depth int) {
	if c.settled {
		return
	}
	c.settled = true
	c.Must = len(c.Commands) > 0 && !c.acts && !c.standard
	var kept []*js.Argument
	for _, o := range c.Options {
		skip := js.IsHelp(o.Flag) && o.Flag != "-h" && o.Flag != "-V"
		for _, flags := range c.ignored {
			skip = skip || strings.Contains(flags, o.Flag)
		}
		if !skip {
			kept = append(kept, o)
		}
	}
	c.Options = kept
	for _, o := range c.Options {
		for _, name := range o.Conflicts {
			if other := c.Find(name); other != nil {
				o.Excludes = append(o.Excludes, other.Flag)
			}
		}
		o.Conflicts = nil
	}
	for _, sub := range c.below {
		if depth < maxBelow {
			sub.settle(depth + 1)
		}
	}
}

func (c *commanderItem) Member(_ *Host, name string, _ int32) js.Value {
	return js.Method{Receiver: c, Name: name}
}

// Method evaluates a method of an Option or an Argument.
func (c *commanderItem) Method(_ *Host, name string, args []js.Value, _ int32) js.Value {
	switch name {
	case "default":
		setStandard(c.Argument, js.First(args))
	case "choices":
		texts, ok := js.TextsOf(js.First(args))
		if !ok {
			break
		}
		c.Choose(texts)
	case "argParser":
		list := c.List
		setParser(c.Argument, js.First(args))
		c.List = c.List || list
	case "makeOptionMandatory":
		c.mandatory = js.First(args) != false
	case "hideHelp":
		c.Hidden = js.First(args) != false
	case "conflicts":
		texts, _ := js.TextsOf(js.First(args))
		c.excludes = append(c.excludes, texts...)
	case "argOptional":
		c.Required, c.Least = false, 0
	case "argRequired":
		c.Required = true
	case "env":
		c.Tested = true
	}
	return c
}
