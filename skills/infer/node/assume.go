package node

import (
	"regexp"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// assumptions are facts that hold behind a condition.
type assumptions struct{ *methods }

// assume notes what follows from a condition that holds, or does not, while the program
// goes on.
func (e *assumptions) assume(test *syntax.Node, holds bool, s *js.Scope) {
	if e.unsure > 0 {
		return
	}
	switch {
	case test.Kind == syntax.Unary && test.Name == "!":
		e.assume(test.Kids[0], !holds, s)
		return
	case test.Kind == syntax.Binary && test.Name == "||":
		if !holds {
			e.assume(test.Kids[0], false, s)
			e.assume(test.Kids[1], false, s)
		}
		return
	case test.Kind == syntax.Binary && test.Name == "&&":
		if holds {
			e.assume(test.Kids[0], true, s)
			e.assume(test.Kids[1], true, s)
		} else if inner := test.Kids[1]; inner.Kind == syntax.Unary && inner.Name == "!" {
			e.limit(inner.Kids[0], s, false) // if (x && !known.includes(x)) fail()
		}
		return
	case test.Kind == syntax.Binary:
		e.assumeComparison(test, holds, s)
		return
	case test.Kind == syntax.Call:
		e.assumeCall(test, holds, s)
		return
	case test.Kind == syntax.Index && holds && e.assumeKey(test, s):
		return
	}
	switch v := e.eval(test, s).(type) {
	case js.Given:
		if holds {
			v.Demand()
		}
	case js.Length:
		if holds {
			v.List.AtLeast(1 + v.From)
		}
	case js.JoinedWord:
		if holds {
			v.Option.Demand()
		}
	}
}

// assumeCall notes what follows from isNaN(x) and known.includes(x).
func (e *assumptions) assumeCall(test *syntax.Node, holds bool, s *js.Scope) {
	if holds {
		e.limit(test, s, true)
		e.match(test, s)
		return
	}
	switch test.Kids[0].Dotted() {
	case "isNaN", "Number.isNaN":
		if len(test.Kids) == 2 {
			if v, ok := e.eval(test.Kids[1], s).(js.Given); ok {
				v.Demand()
			}
		}
	}
}

// assumeKey notes that an object has the member object[x]: x is one of its names. It
// reports false where the object is not known.
func (e *assumptions) assumeKey(test *syntax.Node, s *js.Scope) bool {
	o, ok := e.eval(test.Kids[0], s).(*js.Object)
	v, also := e.eval(test.Kids[1], s).(js.Given)
	if !ok || !also || o.Open || v.Derived {
		return false
	}
	v.Choose(o.Keys)
	v.Demand()
	return true
}

// match notes that /x/.test(y) holds. It does not without y where the expression matches
// neither the empty text nor "undefined".
func (e *assumptions) match(test *syntax.Node, s *js.Scope) {
	callee := test.Kids[0]
	if len(test.Kids) != 2 || callee.Kind != syntax.Dot || callee.Name != "test" {
		return
	}
	pattern, ok := e.eval(callee.Kids[0], s).(js.Regexp)
	v, also := e.eval(test.Kids[1], s).(js.Given)
	end := strings.LastIndexByte(string(pattern), '/')
	if !ok || !also || end < 1 {
		return
	}
	expression, err := regexp.Compile(string(pattern[1:end]))
	if err == nil && !expression.MatchString("") && !expression.MatchString("undefined") {
		v.Demand()
	}
}

// limit notes that known.includes(x) holds: x is one of a list.
func (e *assumptions) limit(test *syntax.Node, s *js.Scope, demanded bool) {
	if test.Kind != syntax.Call || len(test.Kids) != 2 || test.Kids[0].Kind != syntax.Dot || test.Kids[0].Name != "includes" && test.Kids[0].Name != "has" {
		return
	}
	list, ok := e.eval(test.Kids[0].Kids[0], s).(*js.Array)
	v, also := e.eval(test.Kids[1], s).(js.Given)
	if !ok || !also || list.Open || v.Derived {
		return
	}
	var texts []string
	for _, item := range list.Items {
		text, ok := item.(string)
		if !ok {
			return
		}
		texts = append(texts, text)
	}
	v.Choose(texts)
	if demanded {
		v.Demand()
	}
}

func (e *assumptions) assumeComparison(test *syntax.Node, holds bool, s *js.Scope) {
	left, right, operator := e.eval(test.Kids[0], s), e.eval(test.Kids[1], s), test.Name
	if js.IsConstant(left) {
		left, right, operator = right, left, mirrored(operator)
	}
	if !holds {
		operator = opposite(operator)
	}
	switch v := left.(type) {
	case js.Given:
		if (operator == "!==" || operator == "!=") && (js.IsNone(right) || right == "") {
			v.Demand()
		}
	case js.Length:
		switch n, ok := right.(float64); {
		case !ok:
		case n == 0 && (operator == "!==" || operator == "!="):
			v.List.AtLeast(1 + v.From)
		default:
			v.List.Bound(operator, int(n)+v.From)
		}
	case js.Position:
		n, ok := right.(float64)
		if ok && (n == -1 && (operator == "!==" || operator == "!=" || operator == ">") || n == 0 && operator == ">=") {
			v.Option.Demand()
		}
	}
}

func mirrored(operator string) string {
	return map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[operator] + map[bool]string{true: operator}[operator[0] != '<' && operator[0] != '>']
}

func opposite(operator string) string {
	return map[string]string{"<": ">=", ">": "<=", "<=": ">", ">=": "<", "===": "!==", "!==": "===", "==": "!=", "!=": "=="}[operator]
}

// chain notes the values that if (x === "a") … else if (x === "b") … else fail() lets
// pass.
func (e *assumptions) chain(n *syntax.Node, s *js.Scope) {
	var subject *js.Argument
	var texts []string
	for ; n != nil && n.Kind == syntax.If; n = n.Kids[2] {
		v, more := e.alternatives(n.Kids[0], s)
		if v == nil || subject != nil && subject != v {
			return
		}
		subject = v
		for _, text := range more {
			if !js.IsHelp(text) {
				texts = append(texts, text)
			}
		}
	}
	if subject != nil && e.unsure == 0 {
		subject.Choose(texts)
		subject.Demand()
	}
}

// alternatives returns the argument that a condition compares with texts.
func (e *assumptions) alternatives(test *syntax.Node, s *js.Scope) (*js.Argument, []string) {
	switch {
	case test.Kind == syntax.Binary && test.Name == "||":
		a, left := e.alternatives(test.Kids[0], s)
		b, right := e.alternatives(test.Kids[1], s)
		if a == b {
			return a, append(left, right...)
		}
	case test.Kind == syntax.Binary && (test.Name == "===" || test.Name == "=="):
		v, ok := e.eval(test.Kids[0], s).(js.Given)
		text, also := e.eval(test.Kids[1], s).(string)
		if ok && also && !v.Derived {
			return v.Argument, []string{text}
		}
	}
	return nil, nil
}

// givesUp reports whether a branch that returns tells the person why.
func (e *assumptions) givesUp(n *syntax.Node) bool {
	if !e.inMain() {
		return false
	}
	return n.Any(func(n *syntax.Node) bool {
		if n.Kind != syntax.Call {
			return false
		}
		switch n.Kids[0].Dotted() {
		case "console.error", "console.log", "console.warn", "console.info", "process.stderr.write", "usage", "printUsage", "showUsage", "showHelp", "printHelp", "help":
			return true
		}
		return false
	})
}
