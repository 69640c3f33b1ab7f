package shell

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An ArgumentError is a value that cannot be passed to the script.
type ArgumentError struct {
	Name    string // of the property
	Message string
}

func (e *ArgumentError) Error() string { return fmt.Sprintf("%q %s", e.Name, e.Message) }

// Argv returns the command line for arguments of [CommandLine.Schema], values of
// encoding/json; null is as good as absent. It is an [*ArgumentError] where one
// is missing, unknown, of a wrong type, or would be read as an option.
func (c *CommandLine) Argv(args map[string]any) ([]string, error) {
	properties := c.Schema().Properties
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, ok := properties.Get(name); !ok {
			return nil, &ArgumentError{name, "is not one of the script's arguments"}
		}
	}
	argv, err := c.places(c.leading, args, false)
	if err != nil {
		return nil, err
	}
	for _, o := range c.options {
		words, err := o.words(args[o.name])
		if err != nil {
			return nil, err
		}
		argv = append(argv, words...)
	}
	behind, err := c.places(c.positionals, args, c.inLoop)
	if err != nil {
		return nil, err
	}
	if len(behind) > 0 && c.terminator {
		argv = append(argv, "--")
	}
	return append(argv, behind...), nil
}

func (o option) words(value any) ([]string, error) {
	if o.kind == flag && value != nil {
		return o.flagWords(value)
	}
	values, err := texts(o.name, value, o.repeated)
	if err != nil {
		return nil, err
	}
	if len(values) == 0 && o.required {
		return nil, &ArgumentError{o.name, "is missing"}
	}
	var words []string
	for _, text := range values {
		if o.kind == joined {
			words = append(words, o.flag+"="+text)
		} else {
			words = append(words, o.flag, text)
		}
	}
	return words, nil
}

func (o option) flagWords(value any) ([]string, error) {
	on, ok := value.(bool)
	switch {
	case !ok:
		return nil, &ArgumentError{o.name, "must be true or false"}
	case on:
		return []string{o.flag}, nil
	}
	return nil, nil
}

// places returns the values of positionals, up to the last that is given. None
// before it may be absent.
func (c *CommandLine) places(all []positional, args map[string]any, inLoop bool) ([]string, error) {
	var words []string
	missing := ""
	for _, p := range all {
		values, err := texts(p.name, args[p.name], p.rest)
		switch {
		case err != nil:
			return nil, err
		case len(values) == 0 && p.required:
			return nil, &ArgumentError{p.name, "is missing"}
		case len(values) == 0:
			missing = p.name
			continue
		case missing != "":
			return nil, &ArgumentError{missing, fmt.Sprintf("is missing: it comes before %q, which is given", p.name)}
		}
		for _, value := range values {
			if fault := c.fault(p, value, inLoop); fault != "" {
				return nil, &ArgumentError{p.name, fault}
			}
		}
		words = append(words, values...)
	}
	return words, nil
}

// texts returns the texts of a value, or of each in a list where one is allowed.
// Null has none.
func texts(name string, value any, list bool) ([]string, error) {
	if value == nil {
		return nil, nil
	}
	values, isList := value.([]any)
	if !list || !isList {
		values = []any{value}
	}
	var texts []string
	for _, v := range values {
		text, err := textOf(name, v)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// fault returns the reason why a positional cannot have a value, or "".
func (c *CommandLine) fault(p positional, value string, inLoop bool) string {
	switch {
	case value == "" && c.notEmpty:
		return "must not be empty: the script stops reading there"
	case !strings.HasPrefix(value, "-"):
		return ""
	case p.careful != "":
		return "must not begin with -: " + p.careful
	case inLoop:
		return "must not begin with -: the script would read it as an option"
	}
	return ""
}

func textOf(name string, value any) (string, error) {
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = strconv.FormatBool(v)
	default:
		return "", &ArgumentError{name, fmt.Sprintf("must be a text, not %T", value)}
	}
	if strings.ContainsRune(text, 0) {
		return "", &ArgumentError{name, "must not contain a NUL character"}
	}
	return text, nil
}
