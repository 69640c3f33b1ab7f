package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

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

// Joining tells which values that begin with a dash are joined to their name:
// "--n=-5".
type Joining struct{ Numbers, Texts bool }

// number matches numbers: "-1" is a value, not a flag.
var number = regexp.MustCompile(`^-(?:\d|\.\d)[\d.eE+-]*$`)

func (j Joining) joins(text string) bool {
	if number.MatchString(text) {
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
	if !paramName.MatchString(name) {
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

// Render writes a value of encoding/json as a script sees it: text as it is,
// anything else as JSON prints it. A declared "integer" loses its fraction of
// zero (3.0).
func Render(value any, declared string) (string, error) {
	if text, ok := value.(string); ok {
		return text, nil
	}
	text, err := jsonText(value)
	if err != nil {
		return "", err
	}
	if declared == "integer" {
		if r, ok := new(big.Rat).SetString(text); ok && r.IsInt() {
			return r.Num().String(), nil
		}
	}
	return text, nil
}

// jsonText is a value as JSON, with < > and & as they are.
func jsonText(value any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// DecodeJSON decodes one whole JSON value; numbers stay as they are written.
func DecodeJSON(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	return value, nil
}

// MaxWord is the longest single argument or environment variable that Linux
// passes on, in bytes (MAX_ARG_STRLEN), less its final NUL.
const MaxWord = 128<<10 - 1

// CheckWord refuses the text of an argument that no program can be passed, with
// more bytes before it.
func CheckWord(name, text string, more int) error {
	switch {
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("%q contains a NUL character, which no program can be passed; leave it out", name)
	case len(text)+more > MaxWord:
		return fmt.Errorf("%q is %d bytes long, more than the %d that a program can be passed; put it into a file of the workspace and pass its path", name, len(text), MaxWord)
	}
	return nil
}

func checkWords(words []string) error {
	for i, word := range words {
		if err := CheckWord(fmt.Sprintf("args[%d]", i), word, 0); err != nil {
			return err
		}
	}
	return nil
}
