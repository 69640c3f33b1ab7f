package skills

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// placeholder matches {name} in a script's path.
var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// Placeholders returns the parameters that the script's path is made of.
func (e *Entry) Placeholders() []string {
	var names []string
	for _, m := range placeholder.FindAllStringSubmatch(e.Script, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// ExpandScript returns the path of the script with value(name) in place of
// each placeholder.
func (e *Entry) ExpandScript(value func(name string) string) string {
	return placeholder.ReplaceAllStringFunc(e.Script, func(m string) string {
		return value(m[1 : len(m)-1])
	})
}

// FindScript returns the path of the script in the skill's folder with all
// links followed. The error is [fs.ErrNotExist] where there is no such file,
// or says why it cannot be run.
func (s *Skill) FindScript(script string) (string, error) {
	name, err := resolve(s.Files, s.Dir, path.Clean(script))
	if err != nil {
		return "", err
	}
	info, err := fs.Stat(s.Files, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	return name, nil
}

// Interpreter returns the command that a script is passed to, chosen by its
// extension, then by its first line; bash where neither says. The executable
// bit says nothing: two thirds of the scripts out there lack it.
func Interpreter(name string, head []byte) []string {
	switch strings.ToLower(path.Ext(name)) {
	case ".py":
		return []string{"python3"}
	case ".js", ".mjs", ".cjs":
		return []string{"node"}
	case ".sh", ".bash":
		return shell("bash", head)
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "#!")
	if !ok {
		return shell("bash", head)
	}
	words := strings.Fields(rest)
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
		if words[0] == "-S" {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return shell("bash", head)
	}
	switch program := path.Base(words[0]); program {
	case "sh", "bash", "dash", "ash":
		return shell(program, head)
	case "python", "python2":
		return append([]string{"python3"}, words[1:]...)
	default:
		return append([]string{program}, words[1:]...)
	}
}

// shell is the interpreter of a shell script. Shells take the carriage returns
// of a script that was saved on Windows for part of its words, so such a script
// is read without them; $0 is still its path.
func shell(program string, head []byte) []string {
	if !bytes.Contains(head, []byte("\r\n")) {
		return []string{program}
	}
	return []string{"bash", "-c", `. <(tr -d '\r' <"$0")`}
}
