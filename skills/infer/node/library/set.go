// Package library knows the libraries that programs of Node.js read their command line with:
// the arguments that a program declares with each, and the values that it gets of them.
//
// Start with [New].
package library

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
)

// A Host is the program that calls a library.
type Host struct {
	*js.Record
	program Program
}

// A Program evaluates the calls of a program.
type Program interface {
	// Callback evaluates a function that is called with values that are not known.
	Callback(v js.Value)
	// Conditional reports whether the call may not be reached.
	Conditional() bool
}

// A Set has the libraries that a program reads its command line with.
type Set struct {
	*Host
	commander *Commander // the program that all modules share; nil before it is used
}

// New returns the libraries for a program. The record has its arguments.
func New(record *js.Record, program Program) *Set {
	return &Set{Host: &Host{Record: record, program: program}}
}

// Module returns the name of a module without its scheme and version. It reports false
// for one that reads command lines in a way that is not understood.
func Module(name string) (bare string, known bool) {
	for _, scheme := range []string{"node:", "npm:", "jsr:"} {
		name = strings.TrimPrefix(name, scheme)
	}
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	switch name {
	case "@commander-js/extra-typings":
		return "commander", true
	case "yargs", "yargs/yargs", "yargs-parser", "cac", "meow", "minimist", "mri", "getopts", "arg", "command-line-args", "@std/cli", "@std/cli/parse-args", "@std/flags",
		"caporal", "@caporal/core", "vorpal", "@oclif/core", "@oclif/command", "clipanion", "cmd-ts", "citty", "gluegun", "optimist", "nopt", "argparse", "ts-command-line-args",
		"dashdash", "docopt", "args", "commist", "@effect/cli", "trpc-cli", "@drizzle-team/brocli", "cleye", "type-flag", "optionator", "sade", "@cliffy/command", "posix-getopt", "node-getopt", "stdio", "flaggs", "@molt/command", "zx":
		return name, false
	}
	return name, !strings.Contains(name, "deno.land/std") || !strings.Contains(name, "/flags/") && !strings.Contains(name, "/cli/")
}

// Reads reports whether a function or a module reads command lines.
func Reads(r js.Reference) bool { return r == "util.parseArgs" || r.Module() == "commander" }

// Declares reports whether the program declares arguments with commander.
func (e *Set) Declares() bool {
	return e.commander != nil && len(e.commander.Options)+len(e.commander.Positionals)+len(e.commander.Commands) > 0
}

// Member returns a member of a library's module. It reports false for one that is none.
func (e *Set) Member(r js.Reference, line int32) (js.Value, bool) {
	if r == "commander.program" {
		return e.programCommand(), true
	}
	return nil, false
}

// Call calls a function of a library that reads command lines. It reports false for
// another one.
func (e *Set) Call(r js.Reference, args []js.Value, line int32) (js.Value, bool) {
	switch {
	case r == "util.parseArgs":
		return e.parseArgs(args, line), true
	case r.Module() != "commander":
		return nil, false
	case strings.HasPrefix(r.Last(), "create"):
		return e.Construct("commander."+js.Reference(strings.TrimPrefix(r.Last(), "create")), args, line)
	case r == "commander":
		return e.programCommand(), true
	}
	return e.programCommand().Method(e.Host, r.Last(), args, line), true
}

// programCommand returns the program of commander, which all modules share.
func (e *Set) programCommand() *Commander {
	if e.commander == nil {
		e.commander = newCommander("", nil)
	}
	return e.commander
}
