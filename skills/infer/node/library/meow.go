package library

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// meow evaluates a call of meow.
func (e *Host) meow(args []js.Value, line int32) js.Value {
	c := &js.Command{Terminator: true, Guarded: true}
	config, ok := js.At(args, len(args)-1).(*js.Object)
	if help, isText := js.First(args).(string); isText {
		e.Texts = append(e.Texts, help)
	}
	if !ok || config.Open {
		return e.Doubt(line, "the options of meow are computed")
	}
	if from, _ := js.Entry(config, "argv"); !e.ReadsProcess(from, 0) {
		return e.Doubt(line, "the options of meow are computed")
	}
	flags, _ := js.Entry(config, "flags")
	if list, ok := flags.(*js.Object); ok && !list.Open {
		for _, key := range list.Keys {
			o, ok := list.Values[key].(*js.Object)
			if !ok || o.Open {
				return e.Doubt(line, "the option %s of meow is computed", key)
			}
			if a := meowOption(key, o, line); a != nil {
				c.Options = append(c.Options, a)
			}
		}
	} else if !js.IsNone(flags) {
		return e.Doubt(line, "the options of meow are computed")
	}
	e.Parsed(line, c)
	result := &js.Options{Command: c, Key: "input", Line: line}
	result.At = map[string]js.Value{"flags": &js.Options{Command: c, Line: line, Open: true}, "showHelp": js.Reference("process.exit"), "showVersion": js.Reference("process.exit")}
	return result
}

func meowOption(key string, o *js.Object, line int32) *js.Argument {
	name := kebab(key)
	if js.IsHelp("--" + name) {
		return nil
	}
	a := js.NewOption(line, "--"+name)
	if short, _ := js.Entry(o, "shortFlag", "alias"); short != nil {
		if text, ok := short.(string); ok {
			a.Flags = append(a.Flags, "-"+text)
		}
	}
	typ, _ := js.Entry(o, "type")
	switch typ {
	case "boolean":
		a.Kind, a.Off = cli.Switch, "--no-"+name
	case "number":
		a.Item = js.TypeOf("number")
	}
	multiple, _ := js.Entry(o, "isMultiple")
	a.List = multiple == true && a.Kind == cli.Value
	if choices, _ := js.Entry(o, "choices"); !js.IsNone(choices) {
		if texts, ok := js.TextsOf(choices); ok {
			a.Choose(texts)
		}
	}
	required, _ := js.Entry(o, "isRequired")
	a.Required = required == true
	if standard, _ := js.Entry(o, "default"); !js.IsNone(standard) {
		if constant, ok := js.ToJSON(standard); ok {
			a.Default = constant
		}
	}
	return a
}

// kebab returns a name of JavaScript as a flag has it: "dry-run" of "dryRun".
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
