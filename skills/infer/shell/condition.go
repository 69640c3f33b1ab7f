package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A test compares the value of a variable with a text, as [, [[ or (( does.
// The zero test is one of another form.
type test struct {
	op   string       // "-z" or "-n", or a comparison, such as "-lt", "<" or "="
	name string       // the variable; "#" is the number of arguments
	text string       // "" of a unary operator
	bare bool         // the variable has no default
	word *syntax.Word // with the variable
}

// tests returns the tests any one of which makes a condition true, or false
// where not is set. Of parts that count only together it returns the zero test.
func tests(stmt *syntax.Stmt, not bool) []test {
	not = not != stmt.Negated
	switch c := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.OrStmt && !not || c.Op == syntax.AndStmt && not {
			return slices.Concat(tests(c.X, not), tests(c.Y, not))
		}
	case *syntax.CallExpr:
		return []test{wordTest(tested(c), not)}
	case *syntax.TestClause:
		return clauseTests(c.X, not)
	case *syntax.ArithmCmd:
		return []test{arithmeticTest(c.X, not)}
	}
	return []test{{}}
}

// tested returns the operands of a command test or [, and none of another.
func tested(call *syntax.CallExpr) []*syntax.Word {
	switch command(call) {
	case "test":
		return call.Args[1:]
	case "[":
		return call.Args[1:max(len(call.Args)-1, 1)]
	}
	return nil
}

func wordTest(words []*syntax.Word, not bool) test {
	if len(words) > 2 {
		if first, _, ok := literal(words[0]); ok && first == "!" {
			words, not = words[1:], !not
		}
	}
	switch len(words) {
	case 2:
		op, _, _ := literal(words[0])
		return newTest(words[1], op, nil, not)
	case 3:
		op, _, _ := literal(words[1])
		return newTest(words[0], op, words[2], not)
	}
	return test{}
}

func clauseTests(expr syntax.TestExpr, not bool) []test {
	switch t := expr.(type) {
	case *syntax.ParenTest:
		return clauseTests(t.X, not)
	case *syntax.UnaryTest:
		if b, ok := t.X.(*syntax.BinaryTest); ok && (b.Op == syntax.AndTest || b.Op == syntax.OrTest) {
			// The parser reads ! A && B as !(A && B); bash negates only A.
			first := &syntax.UnaryTest{Op: t.Op, X: b.X}
			return clauseTests(&syntax.BinaryTest{Op: b.Op, X: first, Y: b.Y}, not)
		}
		if t.Op == syntax.TsNot {
			return clauseTests(t.X, !not)
		}
		word, _ := t.X.(*syntax.Word)
		return []test{newTest(word, t.Op.String(), nil, not)}
	case *syntax.BinaryTest:
		if t.Op == syntax.OrTest && !not || t.Op == syntax.AndTest && not {
			return slices.Concat(clauseTests(t.X, not), clauseTests(t.Y, not))
		}
		x, _ := t.X.(*syntax.Word)
		if y, ok := t.Y.(*syntax.Word); ok {
			return []test{newTest(x, t.Op.String(), y, not)}
		}
	}
	return []test{{}}
}

func arithmeticTest(expr syntax.ArithmExpr, not bool) test {
	switch e := expr.(type) {
	case *syntax.Word: // (( $# ))
		t := newTest(e, "!=", nil, not)
		t.text = "0"
		return t
	case *syntax.BinaryArithm:
		x, _ := e.X.(*syntax.Word)
		if y, ok := e.Y.(*syntax.Word); ok {
			return newTest(x, e.Op.String(), y, not)
		}
	}
	return test{}
}

func newTest(x *syntax.Word, op string, y *syntax.Word, not bool) test {
	name, exp, isVariable := bare(x)
	text, _, isText := literal(y)
	if op == "==" {
		op = "="
	}
	if not {
		op = negated(op)
	}
	if !isVariable || !isText || op == "" {
		return test{}
	}
	return test{op: op, name: name, text: text, bare: exp == nil, word: x}
}

// negated returns the opposite of an operator, "" of one that is not known.
func negated(op string) string {
	pairs := [...]string{"-z", "-n", "=", "!=", "-eq", "-ne", "-lt", "-ge", "-le", "-gt", "<", ">=", "<=", ">"}
	if i := slices.Index(pairs[:], op); i >= 0 {
		return pairs[i^1]
	}
	return ""
}
