package js

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// A WordList is a list of words from the command line: all of them, or those that a
// library does not read as options.
type WordList struct {
	Positionals []*Argument // by index; nil where none is used
	Rest        *Argument   // all from an index on
	RestFrom    int
	Options     []*Argument
	Least, Most int // by tests of the length; most is -1 for any
	Shifted     int // words that were removed from the start
	Filtered    bool
	Indexed     bool // used without a filter
	RestName    string
	// declared reports that a library knows the positionals.
	Declared bool
}

func NewWordList() *WordList { return &WordList{Most: -1} }

// Empty reports whether nothing is read from the list.
func (l *WordList) Empty() bool {
	return len(l.Positionals) == 0 && l.Rest == nil && len(l.Options) == 0 && l.Least == 0
}

// Positional returns the argument at an index.
func (l *WordList) Positional(at int, line int32) *Argument {
	for len(l.Positionals) <= at {
		l.Positionals = append(l.Positionals, nil)
	}
	if l.Positionals[at] == nil {
		l.Positionals[at] = &Argument{Argument: &cli.Argument{}, Line: line}
	}
	return l.Positionals[at]
}

// Option returns the option with one of the flags.
func (l *WordList) Option(flags []string, line int32) *Argument {
	for _, o := range l.Options {
		for _, flag := range o.Flags {
			if flag == flags[0] {
				if o.merged != nil {
					return o.merged
				}
				return o
			}
		}
	}
	best := flags[0]
	for _, flag := range flags {
		if strings.HasPrefix(flag, "--") && !strings.HasPrefix(best, "--") {
			best = flag
		}
	}
	o := &Argument{Argument: &cli.Argument{Kind: cli.Switch, Form: cli.Apart}, Line: line, Flags: flags}
	o.setFlag(best)
	l.Options = append(l.Options, o)
	return o
}

// Bound notes a comparison of the number of words that holds.
func (l *WordList) Bound(operator string, n int) {
	switch operator {
	case ">=":
		l.AtLeast(n)
	case ">":
		l.AtLeast(n + 1)
	case "===", "==":
		l.AtLeast(n)
		l.AtMost(n)
	case "<=":
		l.AtMost(n)
	case "<":
		l.AtMost(n - 1)
	}
}

// AtLeast notes that there are n words.
func (l *WordList) AtLeast(n int) { l.Least = max(l.Least, min(n, MaxArguments)) }

// AtMost notes that there are no more than n words.
func (l *WordList) AtMost(n int) {
	if l.Most < 0 || n < l.Most {
		l.Most = max(n, 0)
	}
}
