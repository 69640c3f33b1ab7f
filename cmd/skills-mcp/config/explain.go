package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/agext/levenshtein"
	"gopkg.in/yaml.v3"
)

// unknownField is how the YAML library words a key that no field has.
var unknownField = regexp.MustCompile(`^line (\d+): field (.+) not found in type (\S+)$`)

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
	}
	return errors.New(strings.Join(lines, "; "))
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
