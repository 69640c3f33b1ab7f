package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
	"gopkg.in/yaml.v3"
)

// unknownField is how the YAML library words a key that no field has.
var unknownField = regexp.MustCompile(`^line (\d+): field (.+) not found in type (\S+)$`)

// wrongType is how it words a value that its field cannot have.
var wrongType = regexp.MustCompile("^line (\\d+): cannot unmarshal !!(\\w+) (?:`(.*)` )?into (\\S+)$")

// explain words a decoding error for the person who wrote the file.
func explain(err error) error {
	var typeError *yaml.TypeError
	if !errors.As(err, &typeError) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	lines := make([]string, len(typeError.Errors))
	for i, line := range typeError.Errors {
		lines[i] = line
		if m := unknownField.FindStringSubmatch(line); m != nil {
			lines[i] = fmt.Sprintf("line %s: unknown key %q%s", m[1], m[2], suggest(m[2], m[3]))
		}
		if m := wrongType.FindStringSubmatch(line); m != nil {
			lines[i] = fmt.Sprintf("line %s: %s cannot stand here; write %s", m[1], found(m[2], m[3]), wanted(m[4]))
		}
	}
	return errors.New(strings.Join(lines, "; "))
}

// found says what there is: a value, or what kind of values.
func found(tag, value string) string {
	switch tag {
	case "seq":
		return "a list"
	case "map":
		return "a key with a value"
	}
	return strconv.Quote(value)
}

// wanted says what a value of a Go type is written like.
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
	if strings.HasPrefix(typeName, "config.") {
		return "keys with values, such as {key: value}"
	}
	return "another kind of value"
}

// suggest names the closest key of the type that has no such key.
func suggest(key, typeName string) string {
	best, distance := "", len(key)/2+1
	for _, known := range keysOf(typeName) {
		if d := levenshtein.Distance(key, known, nil); d < distance {
			best, distance = known, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// keysOf returns the keys of a struct type of this package.
func keysOf(typeName string) []string {
	for _, t := range []reflect.Type{reflect.TypeFor[Config](), reflect.TypeFor[Project]()} {
		if known := keys(t, typeName); known != nil {
			return known
		}
	}
	return nil
}

// keys returns the keys of the named struct type, t or one inside of it.
func keys(t reflect.Type, name string) []string {
	var own []string
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Type.Kind() == reflect.Struct {
			if inner := keys(field.Type, name); inner != nil {
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
