package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal returns the text of a word that is the same whatever the script does,
// and whether an unquoted part of it is a pattern.
func literal(word *syntax.Word) (text string, glob, ok bool) {
	if word == nil {
		return "", false, true
	}
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			value, isGlob := unescape(p.Value)
			b.WriteString(value)
			glob = glob || isGlob
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false, false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, isLit := inner.(*syntax.Lit)
				if !isLit || p.Dollar || strings.Contains(lit.Value, `\`) {
					return "", false, false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false, false
		}
	}
	return b.String(), glob, true
}

// unescape takes the backslashes out of an unquoted word.
func unescape(raw string) (text string, glob bool) {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			if i++; i == len(raw) || raw[i] == '\n' {
				continue
			}
		case '*', '?', '[':
			glob = true
		}
		b.WriteByte(raw[i])
	}
	return b.String(), glob
}

// expansion returns the one expansion that a word is, quoted or not, or nil.
func expansion(word *syntax.Word) *syntax.ParamExp {
	if word == nil || len(word.Parts) != 1 {
		return nil
	}
	part := word.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && !quoted.Dollar && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	p, _ := part.(*syntax.ParamExp)
	return p
}

// bare returns the name in $name, ${name}, ${name:-…} or ${name:?…}, and its
// expansion.
func bare(word *syntax.Word) (name string, exp *syntax.Expansion, ok bool) {
	p := expansion(word)
	if p == nil || p.Param == nil || odd(p) {
		return "", nil, false
	}
	if p.Exp == nil {
		return p.Param.Value, nil, true
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return p.Param.Value, p.Exp, true
	}
	return "", nil, false
}

// odd reports whether an expansion is more than a name and an operator on its
// value.
func odd(p *syntax.ParamExp) bool {
	return p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0
}

// stripsName reports whether an expansion is "${name#*=}", which leaves what is
// behind the first =.
func stripsName(word *syntax.Word, prefix string) (name string, ok bool) {
	p := expansion(word)
	if p == nil || p.Param == nil || odd(p) || p.Exp == nil || p.Exp.Op != syntax.RemSmallPrefix {
		return "", false
	}
	pattern, _, ok := literal(p.Exp.Word)
	return p.Param.Value, ok && (pattern == "*=" || pattern == prefix)
}

// place returns which positional parameter a name is: 0 where it is none, all
// where it is "@" or "*".
func place(name string) int {
	if name == "@" || name == "*" {
		return all
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 {
		return 0
	}
	return min(n, all-1)
}

// all is the place of "$@", behind every other.
const all = 1 << 16

// uses returns the places that a part of a script refers to, in the scope that
// it is in. What functions refer to is theirs. ok is false where that is not to
// be known.
func uses(node syntax.Node) (places []int, ok bool) {
	ok = true
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.ParamExp:
			if n.Param == nil || n.Excl && n.Index == nil && n.Names == 0 {
				ok = false // it names what another parameter says
				return false
			}
			if at := place(n.Param.Value); at > 0 {
				places = append(places, at)
			}
		}
		return true
	})
	return places, ok
}

// command returns the name of a simple command, and "" where it is another.
func command(node syntax.Node) string {
	call, ok := node.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	name, _, _ := literal(call.Args[0])
	return name
}
