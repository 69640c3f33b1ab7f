package skills

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// ReadText returns the value of one of the entry's parameters that a person wrote
// as text. What does not fit the parameter's type stays text, and is reported when
// the arguments are checked. An array is a []any: all of it where the text is JSON,
// else the text as its one item.
func (e *Entry) ReadText(p Param, text string) any {
	value, err := DecodeJSON(text)
	switch p.Schema.Type {
	case "": // of several types, or any
		_, flags := e.Passing().(Flags) // which pass text as it is
		if err == nil && !flags && p.Accepts(value) {
			return value
		}
	case "integer", "number", "boolean", "object":
		if err == nil {
			return value
		}
	case "array":
		return readItems(p, text, value, err)
	}
	return text
}

func readItems(p Param, text string, value any, err error) []any {
	if all, ok := value.([]any); ok {
		return all
	}
	if err == nil && p.Schema.Items != nil && p.Schema.Items.Type != "string" && p.Schema.Items.Type != "" {
		return []any{value}
	}
	return []any{text}
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
