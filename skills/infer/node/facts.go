package node

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// facts are those that hold in a scope behind a condition.
type facts struct {
	e *evaluator
	s *js.Scope
}

// assume notes the consequences of a condition that holds, or does not, while the program
// goes on.
func (f facts) assume(test *syntax.Node, holds bool) {
	if f.e.unsure > 0 {
		return
	}
	switch {
	case test.Kind == syntax.Unary && test.Name == "!":
		f.assume(test.Kids[0], !holds)
		return
	case test.Kind == syntax.Binary && (test.Name == "||" || test.Name == "&&"):
		if holds == (test.Name == "&&") {
			f.assume(test.Kids[0], holds)
			f.assume(test.Kids[1], holds)
		}
		return
	case test.Kind == syntax.Binary:
		f.comparison(test, holds)
		return
	case test.Kind == syntax.Call:
		f.member(test, holds)
		return
	case test.Kind == syntax.Index && holds:
		f.key(test)
	}
	if !holds {
		return
	}
	switch v := f.e.eval(test, f.s).(type) {
	case js.Given:
		v.Demand()
	case js.Length:
		v.List.AtLeast(1 + v.From)
	case js.JoinedWord:
		v.Option.Demand()
	}
}

// spare notes that a function returns where an option is not there.
func (f facts) spare(test *syntax.Node) {
	if test.Kind == syntax.Binary {
		if at, ok := f.e.eval(test.Kids[0], f.s).(js.Position); ok {
			at.Option.Spared = true
		}
	}
}

// key notes that an object has the member object[x]: x is one of its names.
func (f facts) key(test *syntax.Node) {
	o, ok := f.e.eval(test.Kids[0], f.s).(*js.Object)
	v, also := f.e.eval(test.Kids[1], f.s).(js.Given)
	if ok && also && !o.Open && !v.Derived {
		v.Choose(o.Keys)
		v.Demand()
	}
}

// member notes that known.includes(x) holds: x is one of a list. isNaN(x) that does not
// hold needs x.
func (f facts) member(test *syntax.Node, holds bool) {
	callee := test.Kids[0]
	if len(test.Kids) != 2 {
		return
	}
	v, ok := f.e.eval(test.Kids[1], f.s).(js.Given)
	switch name := callee.Dotted(); {
	case !ok:
	case !holds && (name == "isNaN" || name == "Number.isNaN"):
		v.Demand()
	case holds && callee.Kind == syntax.Dot && (callee.Name == "includes" || callee.Name == "has"):
		list, _ := f.e.eval(callee.Kids[0], f.s).(*js.Array)
		if texts, known := js.TextsOf(list); known && list != nil && !v.Derived {
			v.Choose(texts)
			v.Demand()
		}
	}
}

func (f facts) comparison(test *syntax.Node, holds bool) {
	left, right, operator := f.e.eval(test.Kids[0], f.s), f.e.eval(test.Kids[1], f.s), test.Name
	if js.IsConstant(left) {
		left, right, operator = right, left, mirrored(operator)
	}
	if !holds {
		operator = opposite(operator)
	}
	differs := operator == "!==" || operator == "!="
	n, isNumber := right.(float64)
	switch v := left.(type) {
	case js.Given:
		if differs && (js.IsNone(right) || right == "") {
			v.Demand()
		}
	case js.Length:
		switch {
		case isNumber && n == 0 && differs:
			v.List.AtLeast(1 + v.From)
		case isNumber:
			v.List.Bound(operator, int(n)+v.From)
		}
	case js.Position:
		if isNumber && (n == -1 && (differs || operator == ">") || n == 0 && operator == ">=") {
			v.Option.Demand()
		}
	}
}

// mirrored returns the operator for the operands in the other order.
func mirrored(operator string) string {
	switch operator {
	case "<":
		return ">"
	case ">":
		return "<"
	case "<=":
		return ">="
	case ">=":
		return "<="
	}
	return operator
}

func opposite(operator string) string {
	return map[string]string{"<": ">=", ">": "<=", "<=": ">", ">=": "<", "===": "!==", "!==": "===", "==": "!=", "!=": "=="}[operator]
}
