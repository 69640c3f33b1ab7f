package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// A Param is one declared parameter of an entry.
type Param struct {
	Name     string
	Required bool
	// Path marks a parameter that names a file or folder in a workspace
	// (`format: path`).
	Path bool
	// Schema describes the value. Its Type is "" where the author's is unknown:
	// any value will do.
	Schema *jsonschema.Schema
}

// Help describes the parameter to a person, with the values that it can have.
func (p Param) Help() string {
	help := p.Schema.Description
	if values := p.values(); values != nil {
		help += fmt.Sprintf(" One of: %s.", strings.Trim(fmt.Sprint(values), "[]"))
	}
	if p.Schema.Default != nil {
		help += fmt.Sprintf(" Default: %v.", p.Schema.Default)
	}
	return strings.TrimSpace(help)
}

// Bounds describes the bounds of the parameter's values to a person, such as "at least 1".
func (p Param) Bounds() []string {
	length := func(n *uint64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatUint(*n, 10)
	}
	s := p.Schema
	var all []string
	for _, bound := range []struct{ words, value string }{
		{"at least %s", string(s.Minimum)}, {"more than %s", string(s.ExclusiveMinimum)}, {"at most %s", string(s.Maximum)}, {"less than %s", string(s.ExclusiveMaximum)},
		{"a multiple of %s", string(s.MultipleOf)}, {"at least %s characters", length(s.MinLength)}, {"at most %s characters", length(s.MaxLength)},
		{"at least %s items", length(s.MinItems)}, {"at most %s items", length(s.MaxItems)}, {"matching %s", s.Pattern},
	} {
		if bound.value != "" {
			all = append(all, fmt.Sprintf(bound.words, bound.value))
		}
	}
	return all
}

// values returns the values that the parameter, or an item of it, can have; nil
// where none are declared.
func (p Param) values() []any {
	if p.Schema.Items != nil && p.Schema.Enum == nil {
		return p.Schema.Items.Enum
	}
	return p.Schema.Enum
}

// Choices returns the values that the parameter, or an item of it, can have, as a
// person writes them.
func (p Param) Choices() []string {
	if p.Schema.Type == "boolean" {
		return []string{"true", "false"}
	}
	var all []string
	for _, value := range p.values() {
		if text, err := Render(value, p.Schema.Type); err == nil {
			all = append(all, text)
		}
	}
	return all
}

// paramName matches a name that can be passed as "--name".
var paramName = lazily(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

// IsParamName reports whether a name can be passed as "--name".
func IsParamName(name string) bool { return paramName().MatchString(name) }

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

// A FileParam is a parameter of a script that nobody declared, and that takes the
// names of files or folders.
type FileParam struct {
	Name string
	// Written says that the script writes the named file, and Read that it may
	// read it before.
	Written, Read bool
	// Certain says that whatever the parameter is given is a name; otherwise it is
	// one only where it looks like one.
	Certain bool
	// Fallback is the script's own default; "" is none, or unknown.
	Fallback string
}

// extension matches the extension of a file's name.
var extension = lazily(`\.[A-Za-z][A-Za-z0-9]{0,9}$`)

// Takes reports whether a value that the parameter is given is the name of a file
// that is relative.
func (f FileParam) Takes(value string) bool {
	switch {
	case value == "" || value == "-" || len(value) > 4096 || strings.ContainsAny(value, "\x00\n*?"):
		return false
	case path.IsAbs(value) || value[0] == '~' || value[0] == '$' || value[0] == '@':
		return false
	}
	if first, _, _ := strings.Cut(value, "/"); strings.Contains(first, ":") { // an address, or host:path
		return false
	}
	if f.Certain {
		return true
	}
	return value == "." || strings.Contains(value, "/") || extension().MatchString(value)
}

// Render writes a value of encoding/json as a script sees it: text as it is,
// anything else as JSON prints it. A declared "integer" loses its fraction of
// zero (3.0).
func Render(value any, declared string) (string, error) {
	if text, ok := value.(string); ok {
		return text, nil
	}
	text, err := JSONText(value)
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

// JSONText returns a value as JSON, with < > and & as they are.
func JSONText(value any) (string, error) {
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
