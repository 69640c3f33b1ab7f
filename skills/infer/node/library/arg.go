package library

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// argLibrary evaluates a call of arg.
func (e *Host) argLibrary(args []js.Value, line int32) js.Value {
	c := &js.Command{Terminator: true, Guarded: true}
	spec, ok := js.First(args).(*js.Object)
	config, isObject := js.At(args, 1).(*js.Object)
	if from, _ := js.Entry(config, "argv"); !ok || spec.Open || !isObject && len(args) > 1 || !e.ReadsProcess(from, 0) {
		return e.Doubt(line, "the options of arg are computed")
	}
	names := map[string]*js.Argument{}
	for _, key := range spec.Keys {
		if _, alias := spec.Values[key].(string); alias || js.IsHelp(key) {
			continue
		}
		a := js.NewOption(line, key)
		if !argType(a, spec.Values[key]) {
			return e.Doubt(line, "the type of the option %s is computed", key)
		}
		if !strings.HasPrefix(key, "--") {
			a.Form, a.Dashes = cli.Apart, "the script would read it as an option"
		}
		names[key] = a
		c.Options = append(c.Options, a)
	}
	for _, key := range spec.Keys {
		if name, alias := spec.Values[key].(string); alias && names[name] != nil {
			names[name].Flags = append(names[name].Flags, key)
		}
	}
	e.Parsed(line, c)
	return &js.Options{Command: c, Key: "_", Line: line}
}

// argType sets the type of an option of arg.
func argType(a *js.Argument, v js.Value) bool {
	switch v := v.(type) {
	case *js.Closure:
		v.Count++
		return true
	case *js.Array:
		a.List = true
		if len(v.Items) == 1 && v.Items[0] == js.Reference("Boolean") {
			a.Kind, a.List = cli.Count, false
			return true
		}
		return len(v.Items) == 1 && argType(a, v.Items[0])
	case js.Reference:
		switch v {
		case "Number":
			a.Item = js.TypeOf("number")
		case "Boolean":
			a.Kind = cli.Switch
		case "arg.COUNT":
			a.Kind = cli.Count
		case "String":
		default:
			return false
		}
		return true
	}
	return false
}
