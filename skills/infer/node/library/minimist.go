package library

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// minimist evaluates a call of minimist, mri or getopts.
func (e *Host) minimist(library string, args []js.Value, line int32) js.Value {
	c := &js.Command{Terminator: true, Guarded: true, First: library != "getopts"} // --force true would be one option
	if w, ok := js.First(args).(js.Words); !ok || w.List != e.Argv || w.From != 0 {
		if _, isWords := js.First(args).(js.Words); isWords || !js.IsUnknown(js.First(args)) {
			return e.Doubt(line, "%s does not read the script's arguments", library)
		}
		return e.Doubt(line, "%s reads arguments that are computed", library)
	}
	config, ok := js.At(args, 1).(*js.Object)
	if !ok && len(args) > 1 || ok && config.Open {
		return e.Doubt(line, "the options of %s are computed", library)
	}
	if !minimistOptions(c, config, line) {
		return e.Doubt(line, "the options of %s are computed", library)
	}
	if separate, _ := js.Entry(config, "--"); separate == true {
		c.Terminator = false
	}
	if stop, _ := js.Entry(config, "stopEarly"); stop == true {
		c.Terminator = true
	}
	e.Parsed(line, c)
	return &js.Options{Command: c, Key: "_", Open: true, Line: line}
}

// minimistOptions reads the options of minimist and its like.
func minimistOptions(c *js.Command, config *js.Object, line int32) bool {
	option := func(key string) *js.Argument {
		a := c.Find(key)
		if a == nil {
			a = js.NewOption(line, "--"+key)
			a.Undeclared = true
			c.Options = append(c.Options, a)
		}
		return a
	}
	alias, _ := js.Entry(config, "alias")
	if names, ok := alias.(*js.Object); ok {
		for _, key := range names.Keys {
			others, ok := js.TextsOf(names.Values[key])
			if !ok {
				return false
			}
			a := option(key)
			for _, other := range others {
				a.AddName(other)
			}
		}
	} else if !js.IsNone(alias) {
		return false
	}
	texts, _ := js.Entry(config, "string")
	booleans, _ := js.Entry(config, "boolean")
	stringKeys, ok := js.TextsOf(texts)
	booleanKeys, also := js.TextsOf(booleans)
	if !ok || !also && booleans != true && booleans != false {
		return false
	}
	for _, key := range stringKeys {
		if key != "_" {
			a := option(key)
			a.Undeclared = false
		}
	}
	for _, key := range booleanKeys {
		a := option(key)
		a.Kind, a.Undeclared = cli.Switch, false
		a.Off = "--no-" + strings.TrimLeft(a.Flag, "-")
	}
	standard, _ := js.Entry(config, "default")
	if values, ok := standard.(*js.Object); ok {
		for _, key := range values.Keys {
			minimistDefault(option(key), values.Values[key])
		}
	} else if !js.IsNone(standard) {
		return false
	}
	c.Options = deleteHelp(c.Options)
	return true
}

func minimistDefault(a *js.Argument, v js.Value) {
	a.Tested = true
	switch v.(type) {
	case bool:
		if a.Undeclared {
			a.Kind, a.Off, a.Undeclared = cli.Switch, "--no-"+strings.TrimLeft(a.Flag, "-"), false
		}
	case float64:
		if a.Undeclared {
			a.Item, a.Undeclared = js.TypeOf("number"), false
		}
	case string:
		a.Undeclared = false
	case *js.Array:
		a.List = a.Kind == cli.Value
	}
	if constant, ok := js.ToJSON(v); ok {
		a.Default = constant
	}
}

// deleteHelp returns the options without those for the help and the version.
func deleteHelp(all []*js.Argument) (kept []*js.Argument) {
	for _, a := range all {
		help := false
		for _, flag := range a.Flags {
			help = help || js.IsHelp("--"+strings.TrimLeft(flag, "-"))
		}
		if !help {
			kept = append(kept, a)
		}
	}
	return kept
}
