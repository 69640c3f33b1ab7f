package node

import (
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// parameter returns the name of a function's only parameter, and "" of another function.
func parameter(fn *syntax.Function) string {
	if len(fn.Params) == 0 || fn.Params[0].Kind != syntax.Name {
		return ""
	}
	return fn.Params[0].Name
}

func isName(n *syntax.Node, name string) bool {
	return n != nil && n.Kind == syntax.Name && n.Name == name
}

// root returns the beginning of a chain of members and calls.
func root(n *syntax.Node) *syntax.Node {
	for n != nil && (n.Kind == syntax.Dot || n.Kind == syntax.Call) {
		n = n.Kids[0]
	}
	return n
}

// testOfWord returns the test that a function makes of a word: that it does not begin with
// a dash, or begins with a text.
func testOfWord(fn *syntax.Function, eval func(*syntax.Node) js.Value) (notDash bool, prefix string) {
	body, word := fn.Body, parameter(fn)
	if body != nil && body.Kind == syntax.Block && len(body.Kids) == 1 && body.Kids[0].Kind == syntax.Return {
		body = body.Kids[0].Kids[0]
	}
	if body == nil {
		return false, ""
	}
	switch {
	case body.Kind == syntax.Binary && body.Name == "&&":
		for _, kid := range body.Kids {
			if notDash, _ = testOfWord(&syntax.Function{Params: fn.Params, Body: kid}, eval); notDash {
				return true, ""
			}
		}
	case body.Kind == syntax.Unary && body.Name == "!":
		text := beginning(body.Kids[0], word, eval)
		return text == "-" || text == "--", ""
	}
	return false, beginning(body, word, eval)
}

// beginning returns the text that word.startsWith(…) tests for, and "" of another test.
func beginning(n *syntax.Node, word string, eval func(*syntax.Node) js.Value) string {
	if n.Kind != syntax.Call || len(n.Kids) != 2 || n.Kids[0].Kind != syntax.Dot || n.Kids[0].Name != "startsWith" || !isName(n.Kids[0].Kids[0], word) {
		return ""
	}
	return js.StringOf(eval(n.Kids[1]))
}

// tellsOptions reports whether a body compares a word with texts, or with their
// beginnings.
func tellsOptions(body *syntax.Node, word string) bool {
	return body.Any(func(n *syntax.Node) bool {
		switch n.Kind {
		case syntax.Binary:
			return (n.Name == "===" || n.Name == "==" || n.Name == "!==" || n.Name == "!=") && (isName(n.Kids[0], word) || isName(n.Kids[1], word))
		case syntax.Dot:
			return (n.Name == "startsWith" || n.Name == "match" || n.Name == "split") && isName(root(n.Kids[0]), word)
		case syntax.Index:
			return isName(n.Kids[1], word)
		case syntax.Switch:
			return isName(n.Kids[0], word)
		}
		return false
	})
}
