package manifest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxEcho is how much of what an author or a caller wrote a message repeats, in
// bytes.
const maxEcho = 80

// show renders a value of a message, shortened where it is long.
func Show(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return truncate.String(string(data), maxEcho)
}

// firstFew shortens a list to n items, and says how many more there are.
func FirstFew(all []string, n int) []string {
	if len(all) <= n {
		return all
	}
	return append(slices.Clone(all[:n]), fmt.Sprintf("%d more", len(all)-n))
}
