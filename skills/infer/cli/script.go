package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Script is the result of reading the source of a script.
type Script struct {
	// CommandLine is nil where the source does not determine it; then a note says why.
	// That of a script which certainly takes no arguments has no properties.
	CommandLine *CommandLine
	Notes       Notes // on the parts that are not known
}

// Notes are notes on a source, each once.
type Notes []skills.SourceNote

// maxNotes is the maximum number of notes on one script.
const maxNotes = 16

// Add adds a note on a line, 0 for the whole source.
func (n *Notes) Add(line int, format string, args ...any) {
	note := skills.SourceNote{Line: line, Text: fmt.Sprintf(format, args...)}
	if len(*n) < maxNotes && !slices.Contains(*n, note) {
		*n = append(*n, note)
	}
}

// Lay lays out a command in the order of the notes' lines, nil where the source does not
// determine it.
func (n Notes) Lay(command *Command) *Script {
	s := &Script{Notes: n}
	if command != nil {
		if s.CommandLine = New(command); s.CommandLine == nil {
			s.Notes.Add(0, "the script has more than %d arguments", MaxProperties)
		}
	}
	slices.SortStableFunc(s.Notes, func(a, b skills.SourceNote) int { return cmp.Compare(a.Line, b.Line) })
	return s
}
