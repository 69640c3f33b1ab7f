package shell

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An ArgumentError says why a value cannot be passed to the script.
type ArgumentError struct {
	Name    string // of the property
	Message string
}

func (e *ArgumentError) Error() string { return fmt.Sprintf("%q %s", e.Name, e.Message) }

// Argv returns the script's arguments for those of [CommandLine.Schema], which
// are values of encoding/json; null is as good as absent. No value is read as an
// option: one that the script would take for one is an [*ArgumentError], as is
// one that is missing, of a wrong type or unknown.
func (c *CommandLine) Argv(args map[string]any) ([]string, error) {
	if err := c.known(args); err != nil {
		return nil, err
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

func (c *CommandLine) known(args map[string]any) error {
	properties := c.Schema().Properties
	for _, name := range sortedKeys(args) {
		if _, ok := properties.Get(name); !ok {
			return &ArgumentError{name, "is not one of the script's arguments"}
		}
	}
	return nil
}

func sortedKeys(args map[string]any) []string {
	names := make([]string, 0, len(args))
	for name := range args {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (o option) words(value any) ([]string, error) {
	values, isList := value.([]any)
	switch {
	case value == nil && o.required:
		return nil, &ArgumentError{o.name, "is missing"}
	case value == nil:
		return nil, nil
	case o.kind == flag:
		return o.flagWords(value)
	case !o.repeated || !isList:
		values = []any{value}
	}
	if len(values) == 0 && o.required {
		return nil, &ArgumentError{o.name, "is missing"}
	}
	var words []string
	for _, v := range values {
		text, err := textOf(o.name, v)
		if err != nil {
			return nil, err
		}
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

// places returns the values of positionals, up to the last that is given. One
// that is left out before it takes its default, where that is known.
func (c *CommandLine) places(all []positional, args map[string]any, inLoop bool) ([]string, error) {
	var words []string
	missing := ""
	for _, p := range all {
		values, err := p.values(args[p.name])
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

func (p positional) values(value any) ([]string, error) {
	if value == nil {
		return nil, nil
	}
	values, isList := value.([]any)
	if !p.rest || !isList {
		values = []any{value}
	}
	var words []string
	for _, v := range values {
		text, err := textOf(p.name, v)
		if err != nil {
			return nil, err
		}
		words = append(words, text)
	}
	return words, nil
}

// fault says what is wrong with a value for its place.
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
