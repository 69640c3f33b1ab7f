package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// require notes what a script that ends otherwise needs: "[ -z "$1" ] && exit",
// and the like.
func (r *reader) require(stmt *syntax.Stmt) {
	switch c := stmt.Cmd.(type) {
	case *syntax.IfClause:
		if len(c.Cond) == 1 && r.anyEnds(c.Then) {
			r.faults(c.Cond[0], false)
		}
	case *syntax.BinaryCmd:
		switch {
		case c.Op == syntax.AndStmt && r.ends(c.Y):
			r.faults(c.X, false)
		case c.Op == syntax.OrStmt && r.ends(c.Y):
			r.faults(c.X, true)
		}
	case *syntax.CallExpr:
		if command(c) == ":" {
			r.mustBeSet(c)
		}
	}
}

func (r *reader) anyEnds(stmts []*syntax.Stmt) bool {
	return slices.ContainsFunc(stmts, func(s *syntax.Stmt) bool { return r.ends(s) })
}

// mustBeSet reads : "${NAME:?…}".
func (r *reader) mustBeSet(call *syntax.CallExpr) {
	for _, word := range call.Args[1:] {
		if name, exp, ok := bare(word); ok && exp != nil && (exp.Op == syntax.ErrorUnset || exp.Op == syntax.ErrorUnsetOrNull) {
			r.need(name)
		}
	}
}

func (r *reader) need(name string) {
	if at := place(name); at > 0 && at < all {
		r.add(at, positional{required: true})
		return
	}
	r.needed[name] = true
}

// faults reads a condition under which, or unless, the script ends. One of
// several parts that are joined by || is enough.
func (r *reader) faults(stmt *syntax.Stmt, unless bool) {
	if stmt.Negated {
		unless = !unless
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.OrStmt && !unless || c.Op == syntax.AndStmt && unless {
			r.faults(c.X, unless)
			r.faults(c.Y, unless)
		}
	case *syntax.CallExpr:
		r.testCommand(c, unless)
	case *syntax.TestClause:
		r.testClause(c.X, unless)
	case *syntax.ArithmCmd:
		if b, ok := c.X.(*syntax.BinaryArithm); ok {
			x, _ := b.X.(*syntax.Word)
			y, _ := b.Y.(*syntax.Word)
			r.counts(x, arithmetic(b.Op), y, unless)
		}
	}
}

func (r *reader) testCommand(call *syntax.CallExpr, unless bool) {
	words := tested(call)
	switch len(words) {
	case 2:
		operator, _, _ := literal(words[0])
		r.emptiness(operator, words[1], unless)
	case 3:
		operator, _, _ := literal(words[1])
		r.counts(words[0], operator, words[2], unless)
	}
}

// tested returns the words that a command tests; none where it is another.
func tested(call *syntax.CallExpr) []*syntax.Word {
	switch command(call) {
	case "test":
		return call.Args[1:]
	case "[":
		return call.Args[1:max(len(call.Args)-1, 1)]
	}
	return nil
}

func (r *reader) testClause(test syntax.TestExpr, unless bool) {
	switch t := test.(type) {
	case *syntax.ParenTest:
		r.testClause(t.X, unless)
	case *syntax.UnaryTest:
		word, ok := t.X.(*syntax.Word)
		switch {
		case t.Op == syntax.TsNot:
			r.testClause(t.X, !unless)
		case ok:
			r.emptiness(t.Op.String(), word, unless)
		}
	case *syntax.BinaryTest:
		if t.Op == syntax.OrTest && !unless || t.Op == syntax.AndTest && unless {
			r.testClause(t.X, unless)
			r.testClause(t.Y, unless)
			return
		}
		x, _ := t.X.(*syntax.Word)
		y, _ := t.Y.(*syntax.Word)
		r.counts(x, t.Op.String(), y, unless)
	}
}

// emptiness reads -z and -n.
func (r *reader) emptiness(operator string, word *syntax.Word, unless bool) {
	if name, _, ok := bare(word); ok && (operator == "-z" && !unless || operator == "-n" && unless) {
		r.need(name)
	}
}

func arithmetic(op syntax.BinAritOperator) string {
	switch op {
	case syntax.Lss:
		return "-lt"
	case syntax.Leq:
		return "-le"
	case syntax.Eql:
		return "-eq"
	case syntax.Neq:
		return "-ne"
	case syntax.Geq:
		return "-ge"
	case syntax.Gtr:
		return "-gt"
	}
	return ""
}

// counts reads a comparison of $#.
func (r *reader) counts(x *syntax.Word, operator string, y *syntax.Word, unless bool) {
	if x == nil || y == nil || r.shifted > 0 || r.looped {
		return
	}
	name, _, ok := bare(x)
	text, _, _ := literal(y)
	n, err := strconv.Atoi(text)
	if !ok || name != "#" || err != nil || n < 0 || n > maxOptions {
		return
	}
	at := 0
	switch operator {
	case "-lt", "<":
		if !unless {
			at = n
		}
	case "-le", "<=":
		if !unless {
			at = n + 1
		}
	case "-ne", "!=":
		if !unless {
			at = n
		}
	case "-eq", "=", "==":
		if unless {
			at = n
		} else if n == 0 {
			at = 1
		}
	case "-ge", ">=":
		if unless {
			at = n
		}
	case "-gt", ">":
		if unless {
			at = n + 1
		}
	}
	r.atLeast = max(r.atLeast, at)
}

// choose notes the values of an argument that a case has items for, where all
// others end the script.
func (r *reader) choose(c *syntax.CaseClause) {
	name, _, ok := bare(c.Word)
	at := r.fromPlace[name]
	if place(name) > 0 {
		at = r.shifted + place(name)
	}
	i := slices.IndexFunc(r.places, func(p positional) bool { return p.index == at && !p.rest })
	if !ok || i < 0 {
		return
	}
	var choices []any
	closed := false
	for _, item := range c.Items {
		for _, word := range item.Patterns {
			text, glob, ok := literal(word)
			switch {
			case !ok, glob && text != "*", item.Op != syntax.Break:
				return
			case glob:
				closed = r.anyEnds(item.Stmts)
			case text != "" && !strings.HasPrefix(text, "-") && len(choices) < maxOptions && !slices.Contains(choices, any(text)):
				choices = append(choices, text)
			}
		}
	}
	if closed {
		r.places[i].choices = choices
	}
}

// compares reports whether no place, nor what was set from one, is compared with
// a text that begins with -, but to help a person. What does so has options that
// are not understood.
func (r *reader) compares(node syntax.Node) bool {
	plain := true
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.CaseClause:
			for _, item := range n.Items {
				plain = plain && r.compared(n.Word, item.Patterns...)
			}
		case *syntax.BinaryTest:
			x, _ := n.X.(*syntax.Word)
			y, _ := n.Y.(*syntax.Word)
			plain = plain && r.compared(x, y) && r.compared(y, x)
		case *syntax.CallExpr:
			plain = plain && r.comparedIn(tested(n))
		}
		return plain
	})
	return plain
}

// comparedIn reads the words of a command test.
func (r *reader) comparedIn(words []*syntax.Word) bool {
	for i := 1; i+1 < len(words); i++ {
		switch operator, _, _ := literal(words[i]); operator {
		case "=", "==", "!=":
			if !r.compared(words[i-1], words[i+1]) || !r.compared(words[i+1], words[i-1]) {
				return false
			}
		}
	}
	return true
}

// placesIn returns the places of the arguments that a word has to do with.
func (r *reader) placesIn(word *syntax.Word) []int {
	var places []int
	if word == nil {
		return nil
	}
	syntax.Walk(word, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		if !ok || p.Param == nil {
			return true
		}
		if at, set := r.fromPlace[p.Param.Value]; set {
			places = append(places, at)
		} else if at := place(p.Param.Value); at > 0 {
			places = append(places, min(r.shifted+at, all))
		}
		return true
	})
	return places
}

// compared reports whether the words that an argument is compared with are no
// options but those that help a person.
func (r *reader) compared(with *syntax.Word, words ...*syntax.Word) bool {
	places := r.placesIn(with)
	if len(places) == 0 {
		return true
	}
	for _, word := range words {
		if word == nil {
			return false
		}
		text, glob, ok := literal(word)
		text = strings.TrimPrefix(text, "^")
		switch {
		case !ok:
			return false
		case !strings.HasPrefix(text, "-"):
		case glob && (text == "-*" || text == "--*"), isHelp(text), text == "-h", text == "-V", text == "-v":
			for _, at := range places {
				r.careful[at] = "the script compares it with " + text
			}
		default:
			return false
		}
	}
	return true
}

// isHelp reports whether an option only tells a person something.
func isHelp(name string) bool {
	switch name {
	case "--help", "-help", "--usage", "--version", "-?":
		return true
	}
	return false
}
