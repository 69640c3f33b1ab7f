package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// unknownField matches the YAML library's error for an unknown key.
var unknownField = lazyregexp.New(`^line (\d+): field (.+) not found in type (\S+)$`)

// wrongType matches its error for a value of the wrong type.
var wrongType = lazyregexp.New("^line (\\d+): cannot unmarshal !!(\\w+) (?:`(.*)` )?into (\\S+)$")

// explain rewrites an error of decoding into t for the person who wrote the file.
func explain(err error, t reflect.Type) error {
	var typeError *yaml.TypeError
	if !errors.As(err, &typeError) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	lines := make([]string, len(typeError.Errors))
	for i, line := range typeError.Errors {
		lines[i] = line
		if m := unknownField.FindStringSubmatch(line); m != nil {
			lines[i] = fmt.Sprintf("line %s: unknown key %q%s", m[1], m[2], plain.DidYouMean(m[2], keys(t, m[3])))
		}
		if m := wrongType.FindStringSubmatch(line); m != nil {
			lines[i] = fmt.Sprintf("line %s: %s cannot stand here; write %s", m[1], found(m[2], m[3]), wanted(m[4]))
		}
	}
	return errors.New(strings.Join(lines, "; "))
}

// found describes a value: itself, or its kind.
func found(tag, value string) string {
	switch tag {
	case "seq":
		return "a list"
	case "map":
		return "a key with a value"
	}
	return strconv.Quote(value)
}

// wanted describes the notation of a value of a Go type.
func wanted(typeName string) string {
	switch typeName {
	case "time.Duration":
		return "a time, such as 90s or 5m"
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "string":
		return "a text"
	case "[]string":
		return "a list, such as [a, b]"
	}
	if strings.HasPrefix(typeName, "config.") || strings.HasPrefix(typeName, "agents.") || typeName == "policy.Profile" {
		return "keys with values, such as {key: value}"
	}
	return "another kind of value"
}

// keys returns the keys of the named struct type, which is t or nested in it.
func keys(t reflect.Type, name string) []string {
	var own []string
	for i := range t.NumField() {
		field := t.Field(i)
		of := field.Type
		if of.Kind() == reflect.Map || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct {
			if inner := keys(of, name); inner != nil {
				return inner
			}
		}
		if key, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); key != "-" {
			own = append(own, key)
		}
	}
	if t.String() != name {
		return nil
	}
	return own
}
