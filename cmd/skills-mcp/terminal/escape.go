package terminal

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// EscapeJSON returns encoded JSON with escapes for characters of strings that are
// invisible, or that control a terminal.
func EscapeJSON(encoded string) string {
	var b strings.Builder
	for _, r := range encoded {
		plain := r == '\n' || r >= ' ' && r < 0x7f // strings have no line ends
		if plain || termtext.Visible(string(r)) == string(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
