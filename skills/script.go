package skills

import (
	"regexp"
	"slices"
)

// placeholder matches {name} in a script's path.
var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// Placeholders returns the parameters that the script's path is made of.
func (e *Entry) Placeholders() []string {
	if _, ok := e.Passing().(Flags); !ok {
		return nil
	}
	var names []string
	for _, m := range placeholder.FindAllStringSubmatch(e.Script, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// ExpandScript returns the path of the script with value(name) in place of
// each placeholder.
func (e *Entry) ExpandScript(value func(name string) string) string {
	return placeholder.ReplaceAllStringFunc(e.Script, func(m string) string {
		return value(m[1 : len(m)-1])
	})
}
