package python

import (
	"slices"
	"strings"
)

// A wordTeller finds statements that only tell a person something.
type wordTeller struct {
	reads map[*function]bool // that have to do with the arguments
	depth int                // of functions that are looked into
}

// refuses reports whether statements tell a person about a mistake, and end the script
// or the function.
func (t *wordTeller) refuses(body []*stmt, p *wordPath) bool {
	told := false
	for at, s := range body {
		switch {
		case s.kind == sExpr && (s.value.kind == nConst || t.tells(s.value, p)):
			told = told || mentionsUsage(s.value)
			if t.exits(s.value, p) {
				return true
			}
		case s.kind == sRaise:
			return s.value == nil || !t.readsWords(s.value)
		case s.kind == sReturn:
			return at > 0 && (s.value == nil || s.value.kind == nConst || s.value.kind == nUnary || t.tells(s.value, p)) || s.value != nil && (s.value.kind == nConst && s.value.value != value(none{}) && s.value.value != value(int64(0)) || t.tells(s.value, p))
		case s.kind == sJump && s.name == "":
		case s.kind == sCompound && (s.name == "for" || s.name == "if") && at < len(body)-1 && t.showsOnly(s, p):
		default:
			return false
		}
	}
	return told
}

// showsOnly reports whether a statement with blocks prints and does nothing else.
func (t *wordTeller) showsOnly(s *stmt, p *wordPath) bool {
	return !slices.ContainsFunc(s.clauses, func(c clause) bool {
		return slices.ContainsFunc(c.body, func(s *stmt) bool { return s.kind != sExpr || !t.tells(s.value, p) || t.exits(s.value, p) })
	})
}

func (t *wordTeller) readsWords(n *node) bool {
	return n.any(func(n *node) bool { return n.kind == nCall && t.ownReader(n) })
}

func (t *wordTeller) ownReader(n *node) bool {
	name := dotted(n.kids[0])
	for fn := range t.reads {
		if fn.name == name {
			return true
		}
	}
	return false
}

// tells reports whether an expression prints a text, or ends the script.
func (t *wordTeller) tells(n *node, p *wordPath) bool {
	if !isCall(n) {
		return false
	}
	name := dotted(n.kids[0])
	if fn, ok := p.lookup(name).(*function); ok {
		return t.depth < maxInlined && t.onlyTells(fn, p)
	}
	_, last, _ := strings.Cut("."+name, ".")
	switch {
	case strings.HasPrefix(name, "sys.std"), strings.HasPrefix(name, "log"), strings.HasPrefix(name, "console."):
		return true
	case name == "sys.exit", name == "exit", name == "quit", name == "os._exit":
		return !slices.ContainsFunc(n.kids[1:], func(kid *node) bool {
			return kid.any(func(n *node) bool { return isCall(n) && !t.tells(n, p) && !formats(n) })
		})
	}
	return last == "print" || last == "pprint" || last == "click.echo"
}

// formats reports whether a call only puts a text together.
func formats(n *node) bool {
	callee := n.kids[0]
	switch callee.name {
	case "format", "join", "strip", "basename", "dedent", "len", "str", "sorted", "list", "keys", "get", "getsizeof", "Path":
		return true
	}
	return false
}

// onlyTells reports whether a function prints and does nothing else, as usage does.
func (t *wordTeller) onlyTells(fn *function, p *wordPath) bool {
	t.depth++
	defer func() { t.depth-- }()
	body := fn.block()
	return len(body) > 0 && !slices.ContainsFunc(body, func(s *stmt) bool {
		switch s.kind {
		case sExpr:
			return s.value.kind != nConst && !t.tells(s.value, p)
		case sReturn:
			return s.value != nil && s.value.kind != nConst
		case sRaise, sJump:
			return false
		case sCompound:
			return !t.showsOnly(s, p)
		case sAssign:
			return s.value.any(isCall) && !s.value.any(func(n *node) bool { return isCall(n) && formats(n) })
		}
		return true
	})
}

// exits reports whether an expression ends the script.
func (t *wordTeller) exits(n *node, p *wordPath) bool {
	if !isCall(n) {
		return false
	}
	switch name := dotted(n.kids[0]); name {
	case "sys.exit", "exit", "quit", "os._exit":
		return true
	default:
		fn, ok := p.lookup(name).(*function)
		return ok && slices.ContainsFunc(fn.block(), func(s *stmt) bool {
			return s.kind == sRaise || s.kind == sExpr && isCall(s.value) && leaves(reference(strings.Replace("builtins."+dotted(s.value.kids[0]), "builtins.sys.", "sys.", 1)))
		})
	}
}

// mentionsUsage reports whether a text in an expression has the word "usage".
func mentionsUsage(n *node) bool {
	return n.any(func(n *node) bool {
		text, _ := n.value.(string)
		return n.kind == nConst && strings.Contains(strings.ToLower(text), "usage") || strings.Contains(strings.ToLower(n.name), "usage") || n.name == "__doc__"
	})
}

// endsWell reports whether a script that exits with a value ended well.
func endsWell(a *wordArgs) bool {
	if len(a.positional) == 0 {
		return true
	}
	switch v := a.positional[0].(type) {
	case int64:
		return v == 0
	case string:
		return false
	}
	return len(a.nodes) == 0 || !isText(a.nodes[0])
}

// isText reports whether an expression is certainly a text: one that is put together of
// others, or the docstring.
func isText(n *node) bool {
	switch n.kind {
	case nConst:
		_, ok := n.value.(string)
		return ok
	case nFString:
		return true
	case nName:
		return n.name == "__doc__"
	case nBinary:
		return n.name == "%" && isText(n.kids[0]) || n.name == "+" && (isText(n.kids[0]) || isText(n.kids[1]))
	case nCall:
		return n.kids[0].kind == nAttribute && formats(n) && isText(n.kids[0].kids[0])
	}
	return false
}
