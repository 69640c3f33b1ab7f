package python

import (
	"cmp"
	"fmt"
	"slices"
)

// A Note tells of a part of a script that could not be read.
type Note struct {
	Line int // from 1; 0 where the whole source is meant
	Text string
}

func (n Note) String() string {
	if n.Line == 0 {
		return n.Text
	}
	return fmt.Sprintf("line %d: %s", n.Line, n.Text)
}

// notes collects notes, each once.
type notes struct{ all []Note }

func (n *notes) add(line int, format string, args ...any) {
	note := Note{line, fmt.Sprintf(format, args...)}
	if len(n.all) < maxNotes && !slices.Contains(n.all, note) {
		n.all = append(n.all, note)
	}
}

func (n *notes) sorted() []Note {
	slices.SortStableFunc(n.all, func(a, b Note) int { return cmp.Compare(a.Line, b.Line) })
	return n.all
}

// Bounds of a reading.
const (
	// maxArguments is the maximum number of arguments, or sub-commands, of one parser.
	maxArguments = 256
	// maxNotes is the maximum number of notes on one script.
	maxNotes = 32
)
