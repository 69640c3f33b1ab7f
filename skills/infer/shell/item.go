package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// labels are the patterns of one item of a case.
type labels struct {
	kind  labelKind
	flags []string // such as "--name" and "-n"; of "--name=*" without "=*"
	any   bool     // it matches everything
}

type labelKind int

const (
	isFlag       labelKind = iota
	isJoined               // "--name=*"
	isTerminator           // "--"
	isPattern              // "*", "-*" and the like
)

// optionText matches an option.
var optionText = lazyregexp.New(`^--?[A-Za-z0-9][A-Za-z0-9_-]*$`)

// labelsOf reads the patterns of an item, which are all of one kind.
func labelsOf(item *syntax.CaseItem) (labels, bool) {
	if item.Op != syntax.Break {
		return labels{}, false
	}
	var l labels
	for i, word := range item.Patterns {
		text, glob, ok := literal(word)
		if !ok {
			return labels{}, false
		}
		kind, name := isFlag, text
		before, joined := strings.CutSuffix(text, "=*")
		switch {
		case !glob && text == "--":
			kind = isTerminator
		case glob && joined && optionText.MatchString(before):
			kind, name = isJoined, before
		case glob && slices.Contains([]string{"*", "-*", "--*", "-?*", "--?*", "-?", "--*=*", "--*=", "-*=*"}, text):
			kind = isPattern
			l.any = l.any || text == "*"
		case text == "-?" && !glob:
		case glob || !optionText.MatchString(text):
			return labels{}, false
		}
		if i > 0 && kind != l.kind {
			return labels{}, false
		}
		l.kind = kind
		l.flags = append(l.flags, name)
	}
	return l, true
}

// reachable returns the items up to the first that matches everything.
func reachable(items []*syntax.CaseItem) []*syntax.CaseItem {
	last := slices.IndexFunc(items, func(item *syntax.CaseItem) bool {
		return slices.ContainsFunc(item.Patterns, func(word *syntax.Word) bool {
			text, glob, ok := literal(word)
			return ok && glob && text == "*"
		})
	})
	if last < 0 {
		return items
	}
	return items[:last+1]
}
