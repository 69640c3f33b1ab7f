package manifest

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// Numbers of YAML 1.2's core schema. The library knows those of YAML 1.1 as well:
// to it 0755 is 493, and 1_000 is no text.
var (
	coreInt   = regexp.MustCompile(`^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	coreFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	zeros     = regexp.MustCompile(`^([-+]?)0+([0-9])`)
)

// coreNumbers makes the plain scalars of a node what other readers of YAML take
// them for.
func coreNumbers(node *yaml.Node) {
	for _, child := range node.Content {
		coreNumbers(child)
	}
	switch {
	case node.Kind != yaml.ScalarNode || node.Style != 0:
	case node.Tag == "!!int" && !coreInt.MatchString(node.Value),
		node.Tag == "!!float" && !coreFloat.MatchString(node.Value) && !strings.HasPrefix(strings.TrimLeft(node.Value, "+-"), "."):
		node.Tag = "!!str"
	case node.Tag == "!!int":
		node.Value = zeros.ReplaceAllString(node.Value, "$1$2")
	}
}
