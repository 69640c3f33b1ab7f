package library

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// A cacItem is a program of cac, or one of its commands.
type cacItem struct {
	*js.Command
	program *cacItem
	added   bool // the command without a name was added
}

func (e *Host) cac(line int32) js.Value {
	return &cacItem{Command: &js.Command{Guarded: false}}
}

func (c *cacItem) Member(_ *Host, name string, _ int32) js.Value {
	return js.Method{Receiver: c, Name: name}
}

// Method evaluates a method of a program or a command of cac.
func (c *cacItem) Method(e *Host, name string, args []js.Value, line int32) js.Value {
	program := c
	if c.program != nil {
		program = c.program
	}
	switch name {
	case "":
		return js.Unknown{}
	case "command":
		text, ok := js.First(args).(string)
		if !ok {
			return e.Doubt(line, "a command is computed")
		}
		sub := &cacItem{Command: &js.Command{}, program: program}
		if text != "" && text[0] != '<' && text[0] != '[' {
			sub.Name, text, _ = strings.Cut(text, " ")
		}
		sub.Positionals = positionalsOf(text, line)
		sub.Description, _ = js.At(args, 1).(string)
		if sub.Name == "" {
			program.Positionals, program.added = sub.Positionals, true
			sub.Command = program.Command
		} else {
			program.Commands = append(program.Commands, sub.Command)
		}
		return sub
	case "option":
		text, ok := js.First(args).(string)
		if !ok {
			return e.Doubt(line, "an option is computed")
		}
		if a := cacOption(text, args, line); a != nil {
			c.Options = append(c.Options, a)
		}
	case "action":
		for _, arg := range args {
			e.program.Callback(arg)
		}
	case "parse":
		if len(args) > 0 && !e.ReadsProcess(args[0], -2) {
			return e.Doubt(line, "cac does not read the script's arguments")
		}
		for _, sub := range program.Commands {
			if program.added { // it shares the options of the command without a name
				break
			}
			sub.Options = append(sub.Options, program.Options...)
		}
		if len(program.Commands) > 0 && !program.added {
			program.Options = nil
		}
		e.Parsed(line, program.Command)
		result := &js.Options{Command: program.Command, Key: "args", Line: line}
		result.At = map[string]js.Value{"options": &js.Options{Command: program.Command, Line: line, Open: true}}
		return result
	case "outputHelp", "outputVersion":
		return js.Unknown{}
	}
	return c
}

// cacOption returns an option of cac; nil for that of the help.
func cacOption(text string, args []js.Value, line int32) *js.Argument {
	a := optionOf(text, line)
	if a == nil || js.IsHelp(a.Flag) {
		return nil
	}
	a.Description, _ = js.At(args, 1).(string)
	if config, ok := js.At(args, 2).(*js.Object); ok {
		if standard, ok := js.ToJSON(config.Values["default"]); ok {
			a.Default = standard
			if _, isNumber := config.Values["default"].(float64); isNumber {
				a.SetType("number")
			}
		}
		if list, ok := config.Values["type"].(*js.Array); ok {
			a.List = a.Kind == cli.Value
			if len(list.Items) == 1 && list.Items[0] == js.Reference("Number") {
				a.SetType("number")
			}
		}
	}
	return a
}
