// Package usagetext reads the usage texts of scripts, "Usage: prog [-v] <input>", and
// the lists of arguments below them. It finds names and descriptions for arguments that
// the code itself takes; it does not define any.
//
// Start with [Parse].
package usagetext

import "strings"

// Parse reads usage texts, docstrings and comments, the most specific first: the first
// description of an argument counts.
func Parse(texts ...string) Text {
	t := Text{help: map[string]string{}}
	for _, text := range texts {
		if len(text) <= maxText {
			lines := strings.Split(text, "\n")
			t.readUsage(lines)
			t.readHelp(lines)
		}
	}
	return t
}
