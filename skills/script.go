package skills

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// placeholder matches {name} in a script's path.
var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// Placeholders returns the parameters that the script's path is made of.
func (e *Entry) Placeholders() []string {
	if _, ok := e.Passing().(Flags); !ok {
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
	name, err := skillfs.Resolve(s.Files, s.Dir, path.Clean(script))
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
	head, err := skillfs.ReadHead(s.Files, name)
	if err != nil {
		return nil, err
	}
	return infer.Interpreter(name, head), nil
}
