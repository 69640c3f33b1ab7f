package node

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// parseArgs evaluates a call of util.parseArgs.
func parseArgs(found *js.Record, args []js.Value, line int32) js.Value {
	config, ok := js.First(args).(*js.Object)
	if !ok && len(args) > 0 || ok && config.Open {
		return found.Doubt(line, "the options of parseArgs are computed")
	}
	from, _ := js.Entry(config, "args")
	words := js.Words{List: js.NewWordList(found.Argv.First)}
	words.List.Declared = line
	if open, _ := js.Entry(config, "allowPositionals"); open == true && !js.IsNone(from) && found.ReadsProcess(from, -2) {
		words.From = -2 // the interpreter and the script are positionals
	} else if !found.ReadsProcess(from, 0) {
		return found.Doubt(line, "parseArgs does not read the script's arguments")
	}
	declared, _ := js.Entry(config, "options")
	negatable, known := js.Entry(config, "allowNegative")
	list, ok := declared.(*js.Object)
	if !known || !ok && !js.IsNone(declared) || ok && list.Open {
		return found.Doubt(line, "the options of parseArgs are computed")
	}
	values, result := js.NewObject(0), js.NewObject(0)
	values.Open, result.Open = true, true
	result.Set("values", values)
	result.Set("positionals", words)
	for at := 0; ok && at < len(list.Keys); at++ {
		key := list.Keys[at]
		a := parseArgsOption(key, list.Values[key], negatable == true, line)
		switch {
		case a == nil:
			return found.Doubt(line, "the option %s of parseArgs is computed", key)
		case !js.IsHelp(a.Flag):
			words.List.Options = append(words.List.Options, a)
			values.Set(key, js.Given{Argument: a})
		}
	}
	if found.Parsed != nil {
		found.Doubt(line, "the arguments are read several times")
	}
	found.Parsed = words.List
	return result
}

// parseArgsOption returns an option, and nil where its parts are not known.
func parseArgsOption(key string, v js.Value, negatable bool, line int32) *js.Argument {
	o, ok := v.(*js.Object)
	if !ok || o.Open {
		return nil
	}
	typ, _ := js.Entry(o, "type")
	multiple, known := js.Entry(o, "multiple")
	if !known || typ != "string" && typ != "boolean" {
		return nil
	}
	flags := []string{"--" + key}
	if text, ok := o.Values["short"].(string); ok {
		flags = append(flags, "-"+text)
	}
	a := js.NewOption(line, flags...)
	a.List = multiple == true && typ == "string"
	switch {
	case typ == "boolean" && multiple == true:
		a.Kind = cli.Count
	case typ == "boolean":
		a.Kind = cli.Switch
	}
	if typ == "boolean" && negatable {
		a.Off = "--no-" + key
	}
	if standard, _ := js.Entry(o, "default"); !js.IsNone(standard) {
		a.Tested = true
		a.Default, _ = js.ToJSON(standard)
	}
	a.Description = js.StringOf(o.Values["description"])
	return a
}
