package skills

import (
	"encoding/json"
	"path/filepath"

	"github.com/invopop/jsonschema"
)

// Args is how a call's arguments reach a script. There are [Flags], [ParsedCLI],
// [Input] and [RawArgv], and no others.
type Args interface {
	// Schema returns the JSON Schema (2020-12) of the arguments: an object.
	Schema() *jsonschema.Schema
	// Pass returns what the script is given for arguments that are of the
	// schema, values of encoding/json. The error is for who wrote them.
	Pass(args map[string]any) (Passed, error)
	// params are the schema's properties, in order.
	params() []Param
}

// Passed is what a script is given of a call's arguments.
type Passed struct {
	// Argv follows the script on its command line.
	Argv []string
	// Stdin is its standard input; nil leaves that to the caller.
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
	// Object is the schema of an object with what can be given.
	Object *jsonschema.Schema
	// Files are the parameters that take names of files or folders.
	Files []FileParam
	CommandLine
}

// Schema returns that of the object.
func (s ParsedCLI) Schema() *jsonschema.Schema { return s.Object }

// Pass returns the words of the command line.
func (s ParsedCLI) Pass(args map[string]any) (Passed, error) {
	words, err := s.Argv(args)
	if err != nil {
		return Passed{}, err
	}
	return Passed{Argv: words}, checkWords(words)
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
	text, err := jsonText(object)
	return Passed{Argv: in.Argv, Stdin: []byte(text)}, err
}

func (in Input) params() []Param {
	if in.Object == nil {
		return in.Params
	}
	return Properties(in.Object)
}

// RawArgv passes what a caller writes, word by word: nothing is known of what the
// script takes.
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
	s.Properties.Set(rawStdin, &jsonschema.Schema{Type: "string", Description: "The script's standard input."})
	s.AdditionalProperties = jsonschema.FalseSchema
	return s
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

// Properties returns the parameters of a schema that was not made of them.
func Properties(s *jsonschema.Schema) []Param {
	if s.Properties == nil {
		return nil
	}
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	var params []Param
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		params = append(params, Param{Name: p.Key, Required: required[p.Key], Schema: p.Value})
	}
	return params
}

// SetUndeclared marks an entry of which the manifest declares no arguments: see
// package infer.
func (e *Entry) SetUndeclared() { e.Args, e.Inferred = RawArgv{}, true }

// Unread returns a problem for each part of the script's arguments that its source
// does not tell.
func (s *Skill) Unread() []Problem {
	if s.Entry == nil {
		return nil
	}
	var all []Problem
	for _, note := range s.Entry.Unread {
		all = append(all, Problem{
			Severity: Note, Path: filepath.Join(filepath.Dir(s.File), filepath.FromSlash(s.Entry.Script)), Line: note.Line,
			Message: "of the script's arguments, not all is known: " + note.Text,
		})
	}
	return all
}
