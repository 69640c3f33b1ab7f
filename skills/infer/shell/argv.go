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
// encoding/json. An argument that is null counts as absent. The error is an
// [*ArgumentError] if one is missing, unknown or of a wrong type, or if the script
// would read it as an option.
func (c *CommandLine) Argv(args map[string]any) ([]string, error) {
	properties := c.Schema().Properties
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, ok := properties.Get(name); !ok {
			return nil, &ArgumentError{name, "is not one of the script's arguments"}
		}
	}
	argv, err := c.words(c.leading, args, false)
	if err != nil {
		return nil, err
	}
	options, err := c.words(c.options, args, false)
	if err != nil {
		return nil, err
	}
	behind, err := c.words(c.positionals, args, c.inLoop)
	if err != nil {
		return nil, err
	}
	argv = append(argv, options...)
	if len(behind) > 0 && c.terminator {
		argv = append(argv, "--")
	}
	return append(argv, behind...), nil
}

// words returns the words of arguments. No positional before one that is given may be
// absent.
func (c *CommandLine) words(all []argument, args map[string]any, inLoop bool) ([]string, error) {
	var argv []string
	missing := ""
	for _, a := range all {
		words, err := c.wordsOf(a, args[a.name], inLoop)
		switch {
		case err != nil:
			return nil, err
		case len(words) == 0 && a.kind == positional:
			missing = a.name
		case len(words) > 0 && missing != "":
			return nil, &ArgumentError{missing, fmt.Sprintf("is missing: it comes before %q, which is given", a.name)}
		}
		argv = append(argv, words...)
	}
	return argv, nil
}

func (c *CommandLine) wordsOf(a argument, value any, inLoop bool) (words []string, err error) {
	if a.kind == flag && value != nil {
		on, ok := value.(bool)
		if !ok {
			return nil, &ArgumentError{a.name, "must be true or false"}
		}
		if on {
			words = []string{a.flag}
		}
		return words, nil
	}
	values, isList := value.([]any)
	if value != nil && !(isList && a.list) {
		values = []any{value}
	}
	for _, value := range values {
		text, err := textOf(a.name, value)
		if err != nil {
			return nil, err
		}
		switch fault := c.fault(a, text, inLoop); {
		case fault != "":
			return nil, &ArgumentError{a.name, fault}
		case a.kind == joined:
			words = append(words, a.flag+"="+text)
		case a.kind == next:
			words = append(words, a.flag, text)
		default:
			words = append(words, text)
		}
	}
	if len(words) == 0 && a.required {
		return nil, &ArgumentError{a.name, "is missing"}
	}
	return words, nil
}

// fault returns the reason why an argument cannot have a value, or "".
func (c *CommandLine) fault(a argument, value string, inLoop bool) string {
	switch {
	case a.kind != positional:
		return ""
	case !strings.HasPrefix(value, "-"):
		return ""
	case a.careful != "":
		return "must not begin with -: " + a.careful
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
