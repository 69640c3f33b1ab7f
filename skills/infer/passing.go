package infer

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Pass converts valid arguments to the input of the
// skill's script, whose path has all placeholders filled in. The error is for the
// author of the arguments.
func Pass(s *skills.Skill, script string, args map[string]any) (skills.Passed, error) {
	flags, ok := s.Entry.Passing().(skills.Flags)
	if !ok {
		return s.Entry.Pass(args)
	}
	args = s.Entry.WithoutPlaceholders(args)
	for _, value := range args {
		if text, err := skills.Render(value, ""); err == nil && strings.HasPrefix(text, "-") {
			return flags.PassJoined(args, joining(s, script)) // which costs a look at the script
		}
	}
	return flags.Pass(args)
}

var (
	// pythonParser matches the import of a library that reads command lines, and
	// takes a word with a dash for an option, also after one that wants a value.
	pythonParser = lazyregexp.New(`(?m)^[ \t]*(?:import|from)[ \t]+(?:argparse|optparse|click|typer|getopt|docopt|fire|absl|tap|tyro|configargparse)\b`)
	// nodeParser is the same for Node.js.
	nodeParser = lazyregexp.New(`\bparseArgs\b|["'](?:minimist|yargs|yargs-parser|yargs/yargs|commander|mri|arg|cac|meow|getopts|sade|command-line-args)["']`)
	// joinedCase and apartCase match the two ways to take a long option with its
	// value in a shell's case.
	joinedCase = lazyregexp.New(`--[\w*-]+=\*`)
	apartCase  = lazyregexp.New(`--[\w-]+["']?[ \t]*[)|]`)
)

// joining returns the form of values that begin with a dash. Most shell scripts loop
// over the words, and read an option and its value as two. For an unknown script a
// number is a word of its own, too, and a text is joined, so that it cannot be read as
// another option.
func joining(s *skills.Skill, script string) skills.Joining {
	source, err := skillfs.ReadRegular(s.Files, script, maxScript)
	interpreter, unknown := InterpreterOf(s, script)
	parses := false
	switch {
	case err != nil || unknown != nil || len(interpreter) == 0:
	case IsShell(interpreter):
		apart := apartCase.Match(source)
		return skills.Joining{Numbers: joinedCase.Match(source) && !apart, Texts: !apart}
	case interpreter[0] == "python3":
		parses = pythonParser.Match(source)
	case interpreter[0] == "node":
		parses = nodeParser.Match(source)
	}
	return skills.Joining{Numbers: parses, Texts: true}
}
