package skills

import (
	"regexp"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/schema"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Pass converts arguments that [Entry.Validate] has accepted to the input of the
// skill's script, whose path has all placeholders filled in. The error is for the
// author of the arguments.
func (s *Skill) Pass(script string, args map[string]any) (Passed, error) {
	flags, ok := s.Entry.Passing().(Flags)
	if !ok {
		return s.Entry.Pass(args)
	}
	args = s.Entry.besides(args)
	for _, value := range args {
		if text, err := Render(value, ""); err == nil && strings.HasPrefix(text, "-") {
			return flags.pass(args, s.joining(script)) // which costs a look at the script
		}
	}
	return flags.Pass(args)
}

var (
	// pythonParser matches the import of a library that reads command lines, and
	// takes a word with a dash for an option, also after one that wants a value.
	pythonParser = regexp.MustCompile(`(?m)^[ \t]*(?:import|from)[ \t]+(?:argparse|optparse|click|typer|getopt|docopt|fire|absl|tap|tyro|configargparse)\b`)
	// nodeParser is the same for Node.js.
	nodeParser = regexp.MustCompile(`\bparseArgs\b|["'](?:minimist|yargs|yargs-parser|yargs/yargs|commander|mri|arg|cac|meow|getopts|sade|command-line-args)["']`)
	// joinedCase and apartCase match the two ways to take a long option with its
	// value in a shell's case.
	joinedCase = regexp.MustCompile(`--[\w*-]+=\*`)
	apartCase  = regexp.MustCompile(`--[\w-]+["']?[ \t]*[)|]`)
)

// joining returns how a script reads a value that begins with a dash. A loop over
// the words, as most shell scripts have it, reads the option and its value as two;
// of a script that is not known a number is two words, too, and a text is joined,
// so that it cannot be read as another option.
func (s *Skill) joining(script string) joining {
	source, err := skillfs.ReadRegular(s.Files, script, maxScript)
	interpreter, unknown := s.InterpreterOf(script)
	parses := false
	switch {
	case err != nil || unknown != nil || len(interpreter) == 0:
	case infer.IsShell(interpreter):
		apart := apartCase.Match(source)
		return joining{numbers: joinedCase.Match(source) && !apart, texts: !apart}
	case interpreter[0] == "python3":
		parses = pythonParser.Match(source)
	case interpreter[0] == "node":
		parses = nodeParser.Match(source)
	}
	return joining{numbers: parses, texts: true}
}

// Undeclared returns the arguments that nobody declared and that are passed on as
// they are, sorted. The error is an [*schema.ArgumentError] where one of them is nearly
// the name of a parameter that was not given: it is that one, misspelt.
func (e *Entry) Undeclared(args map[string]any) ([]string, error) {
	passing := e.Passing()
	if in, input := passing.(Input); input && in.Object != nil {
		return nil, nil // its author's schema decides
	}
	var names []string
	for _, p := range passing.params() {
		names = append(names, p.Name)
	}
	unknown, err := schema.Misspelt(append(names, e.Placeholders()...), args)
	if len(names) == 0 {
		return nil, err // it declares none at all
	}
	return unknown, err
}
