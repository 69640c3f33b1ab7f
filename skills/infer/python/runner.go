package python

import (
	_ "embed" // the runner

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// runner calls a function of a Python file as a command: its keyword arguments are a
// JSON object on standard input, and it prints what the function returns. It calls
// a function that LangChain's @tool decorates as if it were not, with or without
// LangChain.
//
//go:embed runner.py
var runner string

// FunctionInterpreter returns the command that runs a function. The file and the
// name of the function follow it, in this order. It needs Python 3.8.
func FunctionInterpreter() []string { return []string{"python3", "-c", runner} }

// publicName is a name of Python's in ASCII that is not private.
var publicName = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_]{0,127}$`)

// IsCallable reports whether [FunctionInterpreter] runs a function of this name.
func IsCallable(name string) bool { return publicName.MatchString(name) }
