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
	if _, ok := e.passing().(Flags); !ok {
		return nil
	}
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

// InterpreterOf returns the command that a script of the skill is passed to.
// The error is as of [Skill.FindScript].
func (s *Skill) InterpreterOf(script string) ([]string, error) {
	name, err := s.FindScript(script)
	if err != nil {
		return nil, err
	}
	head, err := readHead(s.Files, name)
	if err != nil {
		return nil, err
	}
	return interpreter(name, head), nil
}

// interpreter chooses by a script's extension, then by its first line; bash
// where neither says. The executable bit says nothing: two thirds of the
// scripts out there lack it.
func interpreter(name string, head []byte) []string {
	switch strings.ToLower(path.Ext(name)) {
	case ".py":
		return []string{"python3"}
	case ".js", ".mjs", ".cjs":
		return []string{"node"}
	case ".sh", ".bash":
		return shell("bash", head)
	}
	words := shebang(head)
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

// shebang returns the words of a first line "#!…", without env.
func shebang(head []byte) []string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "#!")
	if !ok {
		return nil
	}
	words := strings.Fields(rest)
	if len(words) == 0 || path.Base(words[0]) != "env" {
		return words
	}
	words = words[1:]
	if len(words) > 0 && words[0] == "-S" {
		words = words[1:]
	}
	return words
}

// withoutReturns reads a shell script without its carriage returns, which
// shells take for part of its words. $0 is still the script's path.
const withoutReturns = `. <(tr -d '\r' <"$0")`

func shell(program string, head []byte) []string {
	if !hasCarriageReturns(head) {
		return []string{program}
	}
	return []string{"bash", "-c", withoutReturns}
}

func hasCarriageReturns(head []byte) bool { return bytes.Contains(head, []byte("\r\n")) }

func isShell(interpreter []string) bool {
	switch interpreter[0] {
	case "sh", "bash", "dash", "ash":
		return true
	}
	return false
}
