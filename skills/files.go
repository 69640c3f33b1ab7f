package skills

import (
	"path"
	"regexp"
	"strings"
)

// Files returns the inferred parameters that take names of files or folders.
func (e *Entry) Files() []FileParam {
	cli, _ := e.Args.(ParsedCLI)
	return cli.Files
}

// A FileParam is a parameter of a script that nobody declared, and that takes the
// names of files or folders.
type FileParam struct {
	Name string
	// Written says that the script writes the named file, and Read that it may
	// read it before.
	Written, Read bool
	// Certain says that whatever the parameter is given is a name; otherwise it is
	// one only where it looks like one.
	Certain bool
	// Fallback is the script's own default; "" is none, or unknown.
	Fallback string
}

// extension matches the extension of a file's name.
var extension = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]{0,9}$`)

// Takes reports whether a value that the parameter is given is the name of a file
// that is relative.
func (f FileParam) Takes(value string) bool {
	switch {
	case value == "" || value == "-" || len(value) > 4096 || strings.ContainsAny(value, "\x00\n*?"):
		return false
	case path.IsAbs(value) || value[0] == '~' || value[0] == '$' || value[0] == '@':
		return false
	}
	if first, _, _ := strings.Cut(value, "/"); strings.Contains(first, ":") { // an address, or host:path
		return false
	}
	if f.Certain {
		return true
	}
	return value == "." || strings.Contains(value, "/") || extension.MatchString(value)
}
