package skills

import (
	"fmt"
	"regexp"
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
	if values := p.Values(); values != nil {
		help += fmt.Sprintf(" One of: %s.", strings.Trim(fmt.Sprint(values), "[]"))
	}
	if p.Schema.Default != nil {
		help += fmt.Sprintf(" Default: %v.", p.Schema.Default)
	}
	return strings.TrimSpace(help)
}

// Values are all that the parameter, or an item of it, can be; nil where that is
// not said.
func (p Param) Values() []any {
	if p.Schema.Items != nil && p.Schema.Enum == nil {
		return p.Schema.Items.Enum
	}
	return p.Schema.Enum
}

// Choices are the same as a person writes them.
func (p Param) Choices() []string {
	if p.Schema.Type == "boolean" {
		return []string{"true", "false"}
	}
	var all []string
	for _, value := range p.Values() {
		if text, err := Render(value, p.Schema.Type); err == nil {
			all = append(all, text)
		}
	}
	return all
}

// paramName is what can be passed as "--name".
var paramName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

// IsParamName reports whether a name can be passed as "--name".
func IsParamName(name string) bool { return paramName.MatchString(name) }
