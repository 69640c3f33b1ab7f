package js

import "github.com/skillsmcp/skills-mcp/skills/infer/cli"

// A Record has the parts of the command line that a program was seen to read.
type Record struct {
	Doubts cli.Notes // reasons why the command line is not known
	Argv   *WordList // process.argv behind the script's name
	Parsed *WordList // the words that parseArgs reads; nil where it is not called
}

// Doubt notes a reason why the command line is not known.
func (r *Record) Doubt(line int32, format string, args ...any) Value {
	r.Doubts.Add(int(line), format, args...)
	return Unknown{}
}

// Rest returns all words of a list, as one argument.
func (r *Record) Rest(w Words, line int32) Value {
	if v, ok := w.Rest(line); ok {
		return v
	}
	return r.Doubt(line, "the arguments are read in several ways")
}

// ReadsProcess reports whether a library reads the program's own command line, which is
// its default, from a word on.
func (r *Record) ReadsProcess(v Value, from int) bool {
	w, ok := v.(Words)
	return IsNone(v) || ok && w.List == r.Argv && w.From == from
}
