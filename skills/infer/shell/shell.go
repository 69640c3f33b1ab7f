// Package shell reads from the text of a shell script how it is called: its
// getopts, its loop over options with a case, or its positional parameters. It
// runs nothing. A script that does more with its arguments than the few known
// forms is not read at all.
//
// Start with [Read].
package shell

// Read returns the options and arguments of a script, as bash or sh reads it. It
// is nil where they are not certain, and where there are none. The time grows
// with the size of the source.
func Read(source []byte) *CommandLine {
	file := parse(source)
	if file == nil {
		return nil
	}
	s := newScript(file)
	if s.shadows() {
		return nil
	}
	line := newReader(s).read(s.steps())
	if line == nil {
		return nil
	}
	usage, comment := usageText(s.functions), topComment(file)
	line.explain(usage + "\n" + comment)
	if usage == "" {
		usage = comment
	}
	line.Description = bound(usage)
	return line
}
