// Package pyfunc calls a function of a Python file as a command: its keyword
// arguments are a JSON object on standard input, and what it returns is printed.
// A function that LangChain's @tool decorates is called as if it were not,
// whether LangChain is installed or not.
//
// Start with [Interpreter].
package pyfunc

import (
	_ "embed" // the runner
	"regexp"
)

//go:embed runner.py
var runner string

// Interpreter returns the command that the file and the name of the function are
// passed to, in this order. Python 3.8 or later runs it.
func Interpreter() []string { return []string{"python3", "-c", runner} }

// function is a name of Python's that is no private one, in ASCII.
var function = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,127}$`)

// Name reports whether a function of this name can be called.
func Name(name string) bool { return function.MatchString(name) }
