package library

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// commandLineArgs evaluates a call of command-line-args.
func (e *Host) commandLineArgs(args []js.Value, line int32) js.Value {
	c := &js.Command{Guarded: true}
	list, ok := js.First(args).(*js.Array)
	config, isObject := js.At(args, 1).(*js.Object)
	if !ok || list.Open || !isObject && len(args) > 1 {
		return e.Doubt(line, "the options of command-line-args are computed")
	}
	if from, _ := js.Entry(config, "argv"); !e.ReadsProcess(from, 0) {
		return e.Doubt(line, "the options of command-line-args are computed")
	}
	for _, item := range list.Items {
		o, ok := item.(*js.Object)
		if !ok || o.Open {
			return e.Doubt(line, "the options of command-line-args are computed")
		}
		name, _ := o.Values["name"].(string)
		if name == "" {
			return e.Doubt(line, "the options of command-line-args are computed")
		}
		if js.IsHelp("--" + name) {
			continue
		}
		c.Options = append(c.Options, commandLineArg(name, o, line))
	}
	e.Parsed(line, c)
	return &js.Options{Command: c, Line: line}
}

func commandLineArg(name string, o *js.Object, line int32) *js.Argument {
	a := js.NewOption(line, "--"+name)
	if short, ok := o.Values["alias"].(string); ok {
		a.Flags = append(a.Flags, "-"+short)
	}
	switch o.Values["type"] {
	case js.Reference("Boolean"):
		a.Kind = cli.Switch
	case js.Reference("Number"):
		a.Item = js.TypeOf("number")
	}
	a.List = (o.Values["multiple"] == true || o.Values["lazyMultiple"] == true) && a.Kind == cli.Value
	a.Description, _ = o.Values["description"].(string)
	if standard, ok := js.ToJSON(o.Values["defaultValue"]); ok {
		a.Default, a.Tested = standard, true
	}
	return a
}
