package python

import (
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// A reading is the state of reading one script.
type reading struct {
	prog   string
	notes  *cli.Notes
	steps  int   // left
	calls  int   // depth of calls
	types  int   // depth of annotations
	unsure int   // conditions around the statement that are not known
	stray  *note // a declaration whose parser is not known
	unread *note // an object that may declare arguments
	words  *wordReader
}

func (r *reading) charge(n int) bool {
	r.steps -= n
	return r.steps > 0
}

// giveAway marks parsers that are given to code that is not known: it may add
// arguments. It notes the script's words that are.
func (r *reading) giveAway(a *arguments) {
	given := slices.Clone(a.positional)
	for _, k := range a.keywords {
		given = append(given, k.value)
	}
	for _, v := range given {
		if seq, ok := v.(*sequence); ok && len(seq.items) <= maxUnroll {
			given = append(given, seq.items...)
		}
	}
	r.words.spend(a.line, given...)
	for _, v := range given {
		if d, ok := v.(declarer); ok {
			d.lose(a.line)
		}
	}
}
