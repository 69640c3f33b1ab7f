package js

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
)

// Lay returns the command line for its schema: the positionals of a list, and its
// options.
func (l *WordList) Lay(e *Record, text usagetext.Text) *cli.Command {
	apart := false // an option's value is a word of its own, so that a filter would find it
	for _, o := range l.Options {
		apart = apart || o.merged == nil && o.Kind == cli.Value && o.Form == cli.Apart
	}
	all := l.layPositionals(e, text, apart)
	for _, o := range l.Options {
		if o.merged == nil {
			o.finish(text)
			all = append(all, o.Argument)
		}
	}
	for _, a := range all {
		a.Description = cli.Sentences(a.Description)
	}
	return &cli.Command{Arguments: all, Terminator: l.Declared > 0}
}

// finish completes an option with what its use shows.
func (a *Argument) finish(text usagetext.Text) {
	if a.demanded && !a.Spared && a.Default == nil {
		a.Required = true
	}
	if a.Kind == cli.Switch {
		a.Required = false
	}
	for _, flag := range a.Flags {
		if a.Description == "" {
			a.Description = text.Help(flag)
		}
	}
	a.fitDefault()
}

// fitDefault removes a default that is not of the argument's type. The description tells
// it instead.
func (a *Argument) fitDefault() {
	typ, list := "string", []any{a.Default}
	switch {
	case a.Kind == cli.Count:
		return
	case a.Kind == cli.Switch:
		typ = "boolean"
	case a.Item != nil:
		typ = a.Item.Type
	}
	if text, ok := a.Default.(string); ok && (typ == "number" || typ == "integer") { // parseInt(x || "80")
		if f, ok := ParseNumber(text).(float64); ok {
			list[0] = number(f)
			a.Default = list[0]
		}
	}
	items, isList := a.Default.([]any)
	if isList {
		list = items
	}
	if isList != a.List || slices.ContainsFunc(list, func(v any) bool { return !a.fits(typ, v) }) {
		if told := fmt.Sprint(a.Default); a.Default != nil && !isList && a.Kind != cli.Switch && told != "" && !strings.Contains(strings.ToLower(a.Description), "default") {
			a.Description = cli.Sentences(a.Description, "Default: "+told+".")
		}
		a.Default = nil
	}
}

// fits reports whether a value is of a type, and one of the argument's choices.
func (a *Argument) fits(typ string, v any) bool {
	switch v.(type) {
	case string:
		return typ == "string" && (a.Item == nil || a.Item.Enum == nil || slices.Contains(a.Item.Enum, v))
	case bool:
		return typ == "boolean"
	case json.Number:
		return typ == "number" || typ == "integer"
	}
	return false
}

func (l *WordList) layPositionals(e *Record, text usagetext.Text, apart bool) (all []*cli.Argument) {
	needed := false
	end := len(l.Positionals)
	if l.Rest != nil && l.RestFrom < end {
		end = l.RestFrom
		if slices.ContainsFunc(l.Positionals[end:], func(a *Argument) bool { return a != nil && a.Named }) {
			e.Doubt(l.Rest.Line, "the arguments are read in several ways")
		}
	}
	for i := end - 1; i >= 0; i-- {
		p := l.Positionals[i]
		if p == nil {
			p = l.Positional(i, 0)
		}
		p.Required = needed || i < l.Least || p.demanded || p.Used && !p.Tested && p.Default == nil && l.First == ""
		needed = p.Required
	}
	for i, p := range l.Positionals[:end] {
		p.Leads = l.leads(i, apart)
		l.describe(p, text, i)
		if p.Required {
			p.Default = nil
		}
		p.fitDefault()
		all = append(all, p.Argument)
	}
	if l.Rest != nil && (l.Most < 0 || l.Most > l.RestFrom) {
		l.Rest.Named = l.Rest.Named || l.RestName != ""
		if l.Rest.Name == "" {
			l.Rest.Name = l.RestName
		}
		l.Rest.Least = max(l.Least-l.RestFrom, 0)
		l.Rest.Required = l.Rest.Least > 0 || l.Rest.demanded
		l.Rest.Leads = l.leads(l.RestFrom, apart)
		l.describe(l.Rest, text, l.RestFrom)
		all = append(all, l.Rest.Argument)
	}
	if len(l.Options) > 0 && l.Declared == 0 {
		for _, a := range all {
			a.Dashes = "the script would read it as an option"
		}
	}
	return all
}

// leads reports whether the positional at an index stands before all options.
func (l *WordList) leads(at int, apart bool) bool {
	if l.Declared > 0 {
		return false
	}
	return len(l.Options) == 0 || l.Indexed && !l.Filtered || apart && l.Filtered
}

// describe gives a positional a name and a description from usage texts, where the
// program has none.
func (l *WordList) describe(p *Argument, text usagetext.Text, at int) {
	if name := text.Name(at); name != "" && (!p.Named || len(p.Name) == 1) {
		p.Name = name
	}
	if p.Name == "" {
		p.Name = "arg" + string(number(float64(at+1)))
		if p.List {
			p.Name = "args"
		}
	}
	p.Description = text.Describe(at, p.Name, "", p.List)
}
