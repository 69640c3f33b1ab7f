package skills

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// Args passes a call's arguments to a script. The implementations are [Flags],
// [ParsedCLI], [Input] and [RawArgv], and no others.
type Args interface {
	// Schema returns the JSON Schema (2020-12) of the arguments: an object.
	Schema() *jsonschema.Schema
	// Pass returns the script's input for arguments that are of the schema, values of
	// encoding/json. The error is for who wrote them.
	Pass(args map[string]any) (Passed, error)
	// params are the schema's properties, in order.
	params() []Param
}

// Passed is a script's input: its command line and its standard input.
type Passed struct {
	// Argv follows the script on its command line.
	Argv []string
	// Stdin is its standard input; nil is the caller's choice.
	Stdin []byte
}

// A CommandLine writes arguments in the way in which a script's own parser reads
// them.
type CommandLine interface {
	// Argv returns the words from which the script reads args, values of
	// encoding/json with [encoding/json.Number]. The error names the property
	// that cannot be passed.
	Argv(args map[string]any) ([]string, error)
}

// ParsedCLI passes arguments as the script's own parser wants them.
type ParsedCLI struct {
	// Object is the schema of an object with the arguments; nil where Stored has it.
	Object *jsonschema.Schema
	// Stored reads the schema that a cache keeps encoded; else it is nil. It returns the
	// same schema at each call.
	Stored func() *jsonschema.Schema
	// Files are the parameters that take names of files or folders.
	Files []FileParam
	// Stdin is the property with the script's standard input, which is no argument of its
	// command line; "" is none.
	Stdin string
	CommandLine
}

// Schema returns that of the object.
func (s ParsedCLI) Schema() *jsonschema.Schema {
	if s.Stored != nil {
		return s.Stored()
	}
	return s.Object
}

// Pass returns the words of the command line, and the standard input if the script
// reads some.
func (s ParsedCLI) Pass(args map[string]any) (Passed, error) {
	var passed Passed
	if text, ok := args[s.Stdin].(string); ok && s.Stdin != "" {
		passed.Stdin = []byte(text)
		args = maps.Clone(args)
		delete(args, s.Stdin)
	}
	words, err := s.Argv(args)
	if err != nil {
		return Passed{}, err
	}
	passed.Argv = words
	return passed, checkWords(words)
}

func (s ParsedCLI) params() []Param { return Properties(s.Schema()) }

// Input passes arguments as one JSON object on standard input: {} where there
// are none.
type Input struct {
	// Object is the schema of the object; nil is that of Params.
	Object *jsonschema.Schema
	// Params are the parameters that the manifest declares.
	Params Flags
	// Argv is the script's command line, whatever the arguments are.
	Argv []string
}

// Schema returns that of the object.
func (in Input) Schema() *jsonschema.Schema {
	if in.Object == nil {
		return in.Params.Schema()
	}
	return in.Object
}

// Pass returns the object as JSON.
func (in Input) Pass(args map[string]any) (Passed, error) {
	object := make(map[string]any, len(args))
	for name, value := range args {
		object[name] = value
	}
	for _, p := range in.params() {
		if n, ok := object[p.Name].(json.Number); ok && p.Schema.Type == "integer" {
			text, err := Render(n, p.Schema.Type) // 3.0 would be no integer to the script
			if err != nil {
				return Passed{}, err
			}
			object[p.Name] = json.Number(text)
		}
	}
	text, err := JSONText(object)
	return Passed{Argv: in.Argv, Stdin: []byte(text)}, err
}

func (in Input) params() []Param {
	if in.Object == nil {
		return in.Params
	}
	return Properties(in.Object)
}

// RawArgv passes a caller's words as they are, where the script's arguments are
// unknown.
type RawArgv struct{}

// The properties of RawArgv.
const (
	rawArgs  = "args"
	rawStdin = "stdin"
)

// Schema returns that of {args: string[], stdin: string}.
func (RawArgv) Schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	s.Properties.Set(rawArgs, &jsonschema.Schema{
		Type: "array", Items: &jsonschema.Schema{Type: "string"},
		Description: "The script's command line, one word each.",
	})
	AddStdin(s)
	s.AdditionalProperties = jsonschema.FalseSchema
	return s
}

// AddStdin adds the property "stdin" to the schema of an object, or another name where an
// argument has this one, and returns the name; "" if both are taken.
func AddStdin(s *jsonschema.Schema) string {
	for _, name := range []string{rawStdin, "stdin_text"} {
		if _, taken := s.Properties.Get(name); !taken {
			s.Properties.Set(name, &jsonschema.Schema{Type: "string", Description: "The script's standard input."})
			return name
		}
	}
	return ""
}

// Pass returns the words and the input as they are.
func (RawArgv) Pass(args map[string]any) (Passed, error) {
	var passed Passed
	given, _ := args[rawArgs].([]any)
	for _, word := range given {
		text, _ := word.(string) // the schema has seen to it
		passed.Argv = append(passed.Argv, text)
	}
	if text, ok := args[rawStdin].(string); ok {
		passed.Stdin = []byte(text)
	}
	return passed, checkWords(passed.Argv)
}

func (w RawArgv) params() []Param { return Properties(w.Schema()) }

// Flags passes each argument as "--name value", as Colony does: the declared
// ones in their order, undeclared ones last by name. A value that could be read
// as a flag is joined to its name, "--name=value"; package infer knows better, from
// the script.
type Flags []Param

// Schema returns a property for each parameter. Undeclared ones are allowed.
func (f Flags) Schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	for _, p := range f {
		s.Properties.Set(p.Name, p.Schema)
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

// Pass returns the flags.
func (f Flags) Pass(args map[string]any) (Passed, error) {
	return f.PassJoined(args, Joining{Texts: true})
}

// Joining selects the values beginning with a dash that are joined to their name:
// "--n=-5".
type Joining struct{ Numbers, Texts bool }

// number matches numbers: "-1" is a value, not a flag.
var number = lazily(`^-(?:\d|\.\d)[\d.eE+-]*$`)

func (j Joining) joins(text string) bool {
	if number().MatchString(text) {
		return j.Numbers
	}
	return j.Texts && strings.HasPrefix(text, "-")
}

// PassJoined returns the flags for a script of which it is known how it reads values
// that begin with a dash.
func (f Flags) PassJoined(args map[string]any, how Joining) (Passed, error) {
	types := map[string]string{}
	var names []string
	for _, p := range f {
		types[p.Name] = p.Schema.Type
		if _, given := args[p.Name]; given {
			names = append(names, p.Name)
		}
	}
	declared := len(names)
	for name := range args {
		if _, known := types[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names[declared:])
	var passed Passed
	for _, name := range names {
		words, err := flag(name, args[name], types[name], how)
		if err != nil {
			return Passed{}, err
		}
		passed.Argv = append(passed.Argv, words...)
	}
	return passed, nil
}

func (f Flags) params() []Param { return f }

// flag renders one argument. Declared parameters have a name that will do.
func flag(name string, value any, declared string, how Joining) ([]string, error) {
	if !paramName().MatchString(name) {
		return nil, fmt.Errorf("%q cannot be passed as a parameter; use letters, digits, - and _", name)
	}
	text, err := Render(value, declared)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	if err := CheckWord(name, text, len(name)+len("--=")); err != nil {
		return nil, err
	}
	if how.joins(text) {
		return []string{"--" + name + "=" + text}, nil
	}
	return []string{"--" + name, text}, nil
}
