package quarantine

import (
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// An Error is the reason why a file is not accepted.
type Error struct {
	Name    string // as the source has it, "" for the whole source; print it with codes for invisible characters
	Message string
	Remedy  string // an imperative
}

// Error implements error. The name is quoted, with codes for invisible characters.
func (e *Error) Error() string {
	text := e.Message
	if e.Name != "" {
		text = fmt.Sprintf("%q: %s", truncate.String(e.Name, maxShown), e.Message)
	}
	if e.Remedy == "" {
		return text
	}
	return text + "; " + e.Remedy
}

// maxShown bounds a name in an error, in bytes.
const maxShown = 255

func errSpecial(name string) error {
	return &Error{name, "it is neither a file nor a folder nor a link", "leave it out"}
}
