package skills

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/schema"
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

// Pass returns what the script is given for arguments that [Entry.Validate] has
// accepted. The error is for who wrote them. What the script's path is made of is
// not passed as well.
func (e *Entry) Pass(args map[string]any) (Passed, error) {
	return e.Passing().Pass(e.besides(args))
}

// besides returns args without those that the script's path is made of.
func (e *Entry) besides(args map[string]any) map[string]any {
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

// A Memo keeps a value that is computed once. The zero value is empty.
type Memo struct {
	once  sync.Once
	value any // valid after once
}

// Get returns the value of the first compute.
func (m *Memo) Get(compute func() any) any {
	m.once.Do(func() { m.value = compute() })
	return m.value
}

// checks are the compiled schemas of an entry.
type checks struct{ arguments, output *schema.Schema }

func (e *Entry) checks() *checks {
	return e.compiled.Get(func() any { return &checks{schema.New(e.Schema()), schema.New(e.Output)} }).(*checks)
}

// Validate checks arguments, values of encoding/json, against the entry's schema.
// It returns a [*schema.ArgumentError], or nil.
func (e *Entry) Validate(args map[string]any) error { return e.checks().arguments.CheckArguments(args) }

// CheckOutput checks what the script returned, a JSON object or nil, against the
// schema that the entry declares. The error says where it differs.
func (e *Entry) CheckOutput(object []byte) error {
	if e == nil || e.Output == nil {
		return nil
	}
	if object == nil {
		return errors.New("it is not one JSON object")
	}
	return e.checks().output.CheckOutput(object)
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

// list renders "a, b or c".
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
