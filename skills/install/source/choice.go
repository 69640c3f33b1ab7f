package source

import (
	"fmt"
	"strings"
)

// maxNamed bounds the names in an error.
const maxNamed = 12

// Error implements error. It lists the first names.
func (e *ChoiceError) Error() string {
	var names []string
	for _, c := range e.Choices[:min(len(e.Choices), maxNamed)] {
		names = append(names, c.Name)
	}
	if len(e.Choices) > maxNamed {
		names = append(names, fmt.Sprintf("and %d more", len(e.Choices)-maxNamed))
	}
	list := strings.Join(names, ", ")
	if e.Missing != "" {
		return fmt.Sprintf("the source has no %q; it has %s", e.Missing, list)
	}
	return fmt.Sprintf("the source has %d skills; choose with --skill NAME, or --all: %s", len(e.Choices), list)
}
