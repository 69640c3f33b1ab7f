package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal returns the text of a word without expansions, and whether an unquoted
// part of it is a pattern.
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

// isError reports whether an expansion is ${name:?…}.
func isError(exp *syntax.Expansion) bool {
	return exp != nil && (exp.Op == syntax.ErrorUnset || exp.Op == syntax.ErrorUnsetOrNull)
}

// odd reports whether an expansion is more than a name and an operator on its
// value.
func odd(p *syntax.ParamExp) bool {
	return p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0
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

// uses returns the positional parameters that a part of a script refers to, in
// its own scope. ok is false where a reference is indirect.
func uses(node syntax.Node) (places []int, ok bool) {
	indirect := containsOutside(node, func(n syntax.Node) bool {
		p, isParam := n.(*syntax.ParamExp)
		if !isParam {
			return false
		}
		if p.Param == nil || p.Excl && p.Index == nil && p.Names == 0 {
			return true
		}
		if at := place(p.Param.Value); at > 0 {
			places = append(places, at)
		}
		return false
	})
	return places, !indirect
}

// mentions reports whether a part of a script expands a variable.
func mentions(node syntax.Node, name string) bool {
	return contains(node, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		return ok && p.Param != nil && p.Param.Value == name
	})
}

// command returns the name of a simple command, and "" of another node.
func command(node syntax.Node) string {
	call, ok := node.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	name, _, _ := literal(call.Args[0])
	return name
}

// assignments returns those of a statement that does nothing else.
func assignments(stmt *syntax.Stmt) []*syntax.Assign {
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 && len(stmt.Redirs) == 0 {
			return c.Assigns
		}
	case *syntax.DeclClause:
		return c.Args
	}
	return nil
}

// plain reports whether a statement runs in the foreground, with its own status
// and files.
func plain(stmt *syntax.Stmt) bool {
	return !stmt.Negated && !stmt.Background && !stmt.Coprocess && len(stmt.Redirs) == 0
}

// contains reports whether a node or one below it matches.
func contains(node syntax.Node, match func(syntax.Node) bool) (found bool) {
	return search(node, match, false)
}

// containsOutside is contains but for the bodies of functions.
func containsOutside(node syntax.Node, match func(syntax.Node) bool) bool {
	return search(node, match, true)
}

func search(node syntax.Node, match func(syntax.Node) bool, skipFunctions bool) (found bool) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if _, isFunction := n.(*syntax.FuncDecl); isFunction && skipFunctions {
			return false
		}
		found = found || n != nil && match(n)
		return !found
	})
	return found
}

// shiftBy returns the number of arguments that a command shift removes; behind
// is set where these are the options that getopts has read.
func shiftBy(call *syntax.CallExpr) (n int, behind, ok bool) {
	switch len(call.Args) {
	case 1:
		return 1, false, true
	case 2:
		text, _, ok := literal(call.Args[1])
		if n, err := strconv.Atoi(text); ok && err == nil && n >= 0 && n < all {
			return n, false, true
		}
		return 0, true, isOptind(call.Args[1])
	}
	return 0, false, false
}

// isOptind reports whether a word is $((OPTIND - 1)) or `expr $OPTIND - 1`.
func isOptind(word *syntax.Word) bool {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, word); err != nil {
		return false
	}
	switch strings.NewReplacer(`"`, "", " ", "").Replace(b.String()) {
	case "$((OPTIND-1))", "$(($OPTIND-1))", "$((${OPTIND}-1))", "$(expr$OPTIND-1)":
		return true
	}
	return false
}
