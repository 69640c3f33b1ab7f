// Package jsoncheck checks JSON against JSON Schemas (2020-12) that a stranger may
// have written. Start with [Compile].
package jsoncheck

import (
	"errors"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// A Schema checks values. It may be used concurrently.
type Schema struct {
	compiled *validator.Schema
}

const location = "urn:schema"

// Compile returns the schema at a place of a JSON document, such as
// "#/$defs/name"; "" is the whole. Nothing outside of the document is read.
func Compile(document []byte, place string) (*Schema, error) {
	compiled, err := Validator(document, place)
	if err != nil {
		return nil, errors.New(first(err))
	}
	return &Schema{compiled}, nil
}

// Validator is [Compile] for those who word the faults themselves.
func Validator(document []byte, place string) (*validator.Schema, error) {
	value, err := Decode(document)
	if err != nil {
		return nil, err
	}
	compiler := validator.NewCompiler()
	compiler.DefaultDraft(validator.Draft2020)
	compiler.UseLoader(validator.SchemeURLLoader{})
	compiler.UseRegexpEngine(func(pattern string) (validator.Regexp, error) {
		compiled, err := Pattern(pattern)
		if err != nil { // not a nil pointer in an interface
			return nil, err
		}
		return compiled, nil
	})
	if err := compiler.AddResource(location, value); err != nil {
		return nil, err
	}
	return compiler.Compile(location + place)
}

// Check returns what is first wrong with a value in JSON, in one line, or nil.
func (s *Schema) Check(value []byte) error {
	decoded, err := Decode(value)
	if err != nil {
		return err
	}
	if err := s.compiled.Validate(decoded); err != nil {
		return errors.New(first(err))
	}
	return nil
}

// first words the first fault.
func first(err error) string {
	var schema *validator.SchemaValidationError
	if errors.As(err, &schema) {
		err = schema.Err
	}
	var invalid *validator.ValidationError
	if !errors.As(err, &invalid) {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return line
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	text := invalid.Error()
	if _, below, headed := strings.Cut(text, "\n- "); headed {
		return below
	}
	return text
}
