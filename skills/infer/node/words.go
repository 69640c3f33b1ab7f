package node

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
)

// A wordCall is a use of a list of words in a line.
type wordCall struct {
	js.Words
	found *js.Record
	line  int32
}

// word returns the word at an index.
func (w wordCall) word(at js.Value) js.Value {
	if v, ok := w.At(at, w.line); ok {
		return v
	}
	return w.found.Doubt(w.line, "an argument at a place that is computed")
}

// method evaluates a method of a list of words.
func (w wordCall) method(name string, args []js.Value) js.Value {
	first := js.First(args)
	switch name {
	case "slice":
		if len(args) == 0 {
			return w.Words
		}
		if from, ok := first.(float64); ok && from >= 0 && len(args) == 1 {
			return js.Words{List: w.List, From: w.From + int(from)}
		}
	case "includes", "indexOf", "lastIndexOf", "has":
		if flag, ok := first.(string); ok && flag != "" {
			return w.lookFor(flag, name == "indexOf" || name == "lastIndexOf")
		}
	case "at":
		return w.word(first)
	case "join", "map", "every", "toString", "concat":
		if c, ok := first.(*js.Closure); ok && tellsOptions(c.Body, parameter(c.Function)) {
			break
		}
		return w.found.Rest(w.Words, w.line)
	}
	return w.found.Doubt(w.line, "the command line is read with %s in a way that is not understood", name)
}

// lookFor returns whether, or where, a flag is among the words.
func (w wordCall) lookFor(flag string, where bool) js.Value {
	switch {
	case js.IsHelp(flag) && w.List.First != "" && !where:
		return false
	case js.IsHelp(flag) || flag == "--":
		return js.Unknown{}
	case !strings.HasPrefix(flag, "-"):
		return w.found.Doubt(w.line, "%q is looked for among the arguments", flag)
	case where:
		return js.Position{Option: w.List.Option(flag, w.line)}
	}
	return js.Present{Option: w.List.Option(flag, w.line)}
}

// search evaluates find, some and filter with a test of a word, see testOfWord.
func (w wordCall) search(name string, notDash bool, prefix string) js.Value {
	switch {
	case notDash && name == "filter":
		return w.Without()
	case notDash && name == "find":
		return wordCall{w.Without(), w.found, w.line}.word(0.0)
	case strings.HasSuffix(prefix, "=") && len(prefix) > 2 && name != "filter":
		return w.Named(prefix, w.line)
	}
	return w.found.Doubt(w.line, "the arguments are searched in a way that is not understood")
}

// spread returns the words of a list that are put into another one, for something that
// is not known. It may read options among them.
func (w wordCall) spread() js.Value {
	if w.List == w.found.Argv && !w.List.Filtered && w.From <= 0 {
		return w.found.Doubt(w.line, "the command line is passed on")
	}
	return w.found.Rest(w.Words, w.line)
}

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
