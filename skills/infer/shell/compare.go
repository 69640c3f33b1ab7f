package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// compares reports whether a part of a script compares no argument with an
// option, but one that helps a person. Such an option is not understood.
func (a *arguments) compares(node syntax.Node) bool {
	return !containsOutside(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CaseClause:
			for _, item := range n.Items {
				if !a.compared(n.Word, item.Patterns...) {
					return true
				}
			}
		case *syntax.BinaryTest:
			x, _ := n.X.(*syntax.Word)
			y, _ := n.Y.(*syntax.Word)
			return !a.compared(x, y) || !a.compared(y, x)
		case *syntax.CallExpr:
			words := tested(n)
			for i := 1; i+1 < len(words); i++ {
				switch operator, _, _ := literal(words[i]); operator {
				case "=", "==", "!=":
					if !a.compared(words[i-1], words[i+1]) || !a.compared(words[i+1], words[i-1]) {
						return true
					}
				}
			}
		}
		return false
	})
}

// compared reports whether the words that an argument is compared with are no
// options but those that help a person.
func (a *arguments) compared(with *syntax.Word, words ...*syntax.Word) bool {
	places := a.placesIn(with)
	if len(places) == 0 {
		return true
	}
	for _, word := range words {
		if word == nil {
			return false
		}
		text, glob, ok := literal(word)
		text = strings.TrimPrefix(text, "^")
		if ok && !glob && slices.Contains(places, 1) {
			a.firsts = append(a.firsts, text)
		}
		switch {
		case !ok:
			return false
		case !strings.HasPrefix(text, "-"):
		case glob && (text == "-*" || text == "--*"), isHelp(text), text == "-h", text == "-V", text == "-v":
			for _, at := range places {
				a.careful[at] = "the script compares it with " + text
			}
		default:
			return false
		}
	}
	return true
}

// placesIn returns the places of the arguments in a word.
func (a *arguments) placesIn(word *syntax.Word) []int {
	var places []int
	if word == nil {
		return nil
	}
	contains(word, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		if !ok || p.Param == nil {
			return false
		}
		if at, set := a.fromPlace[p.Param.Value]; set {
			places = append(places, at)
		} else if at := place(p.Param.Value); at > 0 {
			places = append(places, min(a.shifted+at, all))
		}
		return false
	})
	return places
}

// isHelp reports whether an option only tells a person something.
func isHelp(name string) bool {
	switch name {
	case "--help", "-help", "--usage", "--version", "-?":
		return true
	}
	return false
}
