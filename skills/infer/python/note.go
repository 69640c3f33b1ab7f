package python

import (
	"cmp"
	"fmt"
	"slices"
)

// A Note says what of a script could not be read.
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

// Bounds of what is read.
const (
	// MaxSource is how many bytes a script may have.
	MaxSource = 1 << 20
	// maxArguments is how many arguments, or sub-commands, one parser may have.
	maxArguments = 256
	// maxProperties is how many properties one schema may have.
	maxProperties = 512
	// maxNotes is how much is told of one script.
	maxNotes = 32
)
