package library

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// parseArgs evaluates a call of util.parseArgs.
func (e *Host) parseArgs(args []js.Value, line int32) js.Value {
	c := &js.Command{Terminator: true, Guarded: true}
	config, ok := js.First(args).(*js.Object)
	if !ok && len(args) > 0 || ok && config.Open {
		return e.Doubt(line, "the options of parseArgs are computed")
	}
	from, _ := js.Entry(config, "args")
	offset := 0
	if open, _ := js.Entry(config, "allowPositionals"); open == true && !js.IsNone(from) && e.ReadsProcess(from, -2) {
		offset = -2 // the interpreter and the script are positionals
	} else if !e.ReadsProcess(from, 0) {
		return e.Doubt(line, "parseArgs does not read the script's arguments")
	}
	strict, known := js.Entry(config, "strict")
	negatable, also := js.Entry(config, "allowNegative")
	if !known || !also {
		return e.Doubt(line, "the options of parseArgs are computed")
	}
	declared, _ := js.Entry(config, "options")
	if list, ok := declared.(*js.Object); ok && !list.Open {
		for _, key := range list.Keys {
			if problem := parseArgsOption(c, key, list.Values[key], negatable == true, line); problem {
				return e.Doubt(line, "the option %s of parseArgs is computed", key)
			}
		}
	} else if !js.IsNone(declared) {
		return e.Doubt(line, "the options of parseArgs are computed")
	}
	e.Parsed(line, c)
	return &js.Options{Command: c, Key: "positionals", Offset: offset, Line: line, Values: &js.Options{Command: c, Open: strict == false, Line: line}}
}

// parseArgsOption adds an option. It reports true where its parts are not known.
func parseArgsOption(c *js.Command, key string, v js.Value, negatable bool, line int32) bool {
	o, ok := v.(*js.Object)
	if !ok || o.Open {
		return true
	}
	typ, _ := js.Entry(o, "type")
	short, _ := js.Entry(o, "short")
	multiple, known := js.Entry(o, "multiple")
	if !known || typ != "string" && typ != "boolean" {
		return true
	}
	flags := []string{"--" + key}
	if text, ok := short.(string); ok {
		flags = append(flags, "-"+text)
	}
	if js.IsHelp("--" + key) {
		return false
	}
	a := js.NewOption(line, flags...)
	if typ == "boolean" {
		a.Kind = cli.Switch
		if multiple == true {
			a.Kind = cli.Count
		}
		if negatable {
			a.Off = "--no-" + key
		}
	}
	a.List = multiple == true && typ == "string"
	if standard, _ := js.Entry(o, "default"); !js.IsNone(standard) {
		if constant, ok := js.ToJSON(standard); ok {
			a.Default = constant
		}
		a.Tested = true
	}
	if text, _ := js.Entry(o, "description"); text != nil {
		a.Description, _ = text.(string)
	}
	c.Options = append(c.Options, a)
	return false
}
