package node

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// wordAt returns the word at an index.
func (e *state) wordAt(w js.Words, at js.Value, line int32) js.Value {
	switch at := at.(type) {
	case float64:
		index := w.From + int(at) + w.List.Shifted
		if index < 0 {
			return js.Unknown{}
		}
		if at < 0 || index > js.MaxArguments {
			break
		}
		w.List.Indexed = true
		return js.Given{Argument: w.List.Positional(index, line)}
	case js.Position:
		if at.By == 1 {
			return at.Option.TakesValue(cli.Apart)
		}
		return js.Unknown{}
	}
	return e.Doubt(line, "an argument at a place that is computed")
}

// rest returns all words from an index on, as one argument.
func (e *state) rest(w js.Words, line int32) js.Value {
	from := max(w.From+w.List.Shifted, 0)
	if w.List.Rest == nil {
		w.List.Rest = &js.Argument{Argument: &cli.Argument{List: true}, Line: line}
		w.List.RestFrom = from
	}
	if w.List.RestFrom != from {
		return e.Doubt(line, "the arguments are read in several ways")
	}
	return js.Given{Argument: w.List.Rest, Derived: true}
}

// spread returns the words of a list that are put into another one, for something that
// is not known. It may read options among them.
func (e *state) spread(w js.Words, line int32) js.Value {
	if w.List == e.Argv && !w.List.Filtered && w.From+w.List.Shifted <= 0 {
		return e.Doubt(line, "the command line is passed on")
	}
	return e.rest(w, line)
}

// nameValue names an argument by the variable that it is assigned to.
func (e *state) nameValue(name string, v js.Value, line int32) {
	switch v := v.(type) {
	case js.Given:
		a := v.Argument
		if a.Flag == "" && !a.Named && name != "_" {
			a.Name, a.Named = name, true
			if line > 0 {
				a.Line = line
			}
		}
	case js.Words:
		if v.From > 0 && v.List.Rest == nil && v.List.RestName == "" {
			v.List.RestName = name
		}
	}
}
