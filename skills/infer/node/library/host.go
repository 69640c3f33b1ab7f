package library

import "github.com/skillsmcp/skills-mcp/skills/infer/node/js"

// A Host is the program that calls a library.
type Host struct {
	*js.Record
	program Program
}

// A Program evaluates the calls of a program.
type Program interface {
	// Callback evaluates a function that is called with values that are not known.
	Callback(v js.Value)
	Apply(c *js.Closure, args []js.Value, open bool) js.Value
	// Conditional reports whether the call may not be reached.
	Conditional() bool
}
