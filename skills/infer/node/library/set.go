// Package library knows the libraries that programs of Node.js read their command line with:
// the arguments that a program declares with each, and the values that it gets of them.
//
// Start with [New].
package library

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// A Set has the libraries that a program reads its command line with.
type Set struct {
	*Host
	commander *Commander // the program that all modules share; nil before it is used
}

// New returns the libraries for a program. The record has its arguments.
func New(record *js.Record, program Program) *Set {
	return &Set{Host: &Host{Record: record, program: program}}
}

// Declares reports whether the program declares arguments with commander.
func (e *Set) Declares() bool {
	return e.commander != nil && len(e.commander.Options)+len(e.commander.Positionals)+len(e.commander.Commands) > 0
}

// Member returns a member of a library's module. It reports false for one that is none.
func (e *Set) Member(r js.Reference, line int32) (js.Value, bool) {
	switch r {
	case "commander.program":
		return e.programCommand(), true
	}
	return nil, false
}

// Call calls a function of a library that reads command lines.
func (e *Set) Call(r js.Reference, args []js.Value, line int32) (js.Value, bool) {
	switch {
	case r == "util.parseArgs":
		return e.parseArgs(args, line), true
	case r == "commander.createCommand" || r == "commander.createOption" || r == "commander.createArgument":
		return e.ConstructCommander("commander."+js.Reference(strings.TrimPrefix(r.Last(), "create")), args, line), true
	case r.Module() == "commander" && r != "commander":
		return e.programCommand().Method(e.Host, r.Last(), args, line), true
	case r == "commander":
		return e.programCommand(), true
	}
	return nil, false
}

// programCommand returns the program of commander, which all modules share.
func (e *Set) programCommand() *Commander {
	if e.commander == nil {
		e.commander = newCommander("", nil)
	}
	return e.commander
}
