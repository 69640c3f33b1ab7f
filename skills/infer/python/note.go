package python

import "github.com/skillsmcp/skills-mcp/skills"

// A note tells of a part of a script that is not known.
type note = skills.SourceNote

func noteOn(line int, text string) *note { return &note{Line: line, Text: text} }

// maxArguments is the maximum number of arguments, or sub-commands, of one parser.
const maxArguments = 256
