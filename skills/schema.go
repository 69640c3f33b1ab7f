package skills

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON Schema (2020-12) of the entry's arguments: an object,
// its properties in the manifest's order.
func (e *Entry) Schema() *jsonschema.Schema {
	s := e.Passing().Schema()
	if _, flags := e.Passing().(Flags); flags && e.Closed {
		s.AdditionalProperties = jsonschema.FalseSchema
	}
	return s
}

// Params are the entry's parameters, in the manifest's order.
func (e *Entry) Params() []Param { return e.Passing().params() }

// Pass returns what the script is given for arguments that [github.com/skillsmcp/skills-mcp/skills/schema.Validate] has
// accepted. The error is for who wrote them. What the script's path is made of is
// not passed as well.
func (e *Entry) Pass(args map[string]any) (Passed, error) {
	return e.Passing().Pass(e.WithoutPlaceholders(args))
}

// WithoutPlaceholders returns args without those that the script's path is made of.
func (e *Entry) WithoutPlaceholders(args map[string]any) map[string]any {
	if names := e.Placeholders(); len(names) > 0 {
		args = maps.Clone(args)
		maps.DeleteFunc(args, func(name string, _ any) bool { return slices.Contains(names, name) })
	}
	return args
}

// Passing returns how arguments reach the script: [Flags], [ParsedCLI], [Input] or
// [RawArgv].
func (e *Entry) Passing() Args {
	if e.Args == nil {
		return Flags(nil)
	}
	return e.Args
}

// A memo keeps a value that is computed once. The zero value is empty.
type memo struct {
	once  sync.Once
	value any // valid after once
}

// Compiled returns the entry's compiled schemas: the value of the first compute.
// They live as long as the entry does. Package schema owns their type.
func (e *Entry) Compiled(compute func() any) any {
	e.compiled.once.Do(func() { e.compiled.value = compute() })
	return e.compiled.value
}

// Defaults returns args without the parameters that are null, which models send
// for absent, unless null may be a value of theirs. Parameters that the manifest
// declares and that are then absent get their default; other scripts have their
// own.
func (e *Entry) Defaults(args map[string]any) map[string]any {
	all := maps.Clone(args)
	if all == nil {
		all = map[string]any{}
	}
	in, input := e.Passing().(Input)
	foreign := input && in.Object != nil
	_, flags := e.Passing().(Flags)
	for _, p := range e.Params() {
		value, given := all[p.Name]
		if value != nil {
			continue
		}
		if given && !(foreign && p.Schema.Type == "") {
			delete(all, p.Name)
		}
		if (flags || input && !foreign) && p.Schema.Default != nil {
			all[p.Name] = p.Schema.Default
		}
	}
	return all
}

// Enumerate renders "a, b or c".
func Enumerate(items []string, conjunction string) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0]
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " " + conjunction + " " + items[last]
}
