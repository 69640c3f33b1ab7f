package scan

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// packageEnding returns the ending of a file's name that marks a package, or "".
// Sources: LinX's packages; the .skill files of Claude.
func packageEnding(name string) string {
	for _, ending := range []string{".zip", ".tar.gz", ".tgz", dotSkill} {
		if at := len(name) - len(ending); at > 0 && strings.EqualFold(name[at:], ending) {
			return name[at:]
		}
	}
	return ""
}

// dotSkill ends the name of a file that is meant to be nothing but a skill.
const dotSkill = ".skill"

// PackageName returns the name of the folder that a package is unpacked to: the
// file's, without its ending.
func PackageName(file string) string {
	name := path.Base(filepath.ToSlash(file))
	return strings.TrimSuffix(name, packageEnding(name))
}

// packed is the location of a package.
type packed struct {
	host  string // its host path; "" where there is none
	file  string // its path for people
	named bool   // a person means it to be a skill
}

func (p *packed) is(other *packed) bool {
	return p == other || p != nil && other != nil && *p == *other
}

// errNoSkill is the error of a file that is no package and is not meant to be one.
var errNoSkill = errors.New("no skill is packed in it")

// refuse returns the error for one of opening the package: [errNoSkill] where
// nobody means it to be a skill.
func (p *packed) refuse(err error) error {
	var fault *skillfs.ArchiveError
	switch {
	case !errors.As(err, &fault):
		return err
	case p.named:
		return &refusal{fault, skills.Error}
	case errors.Is(err, skillfs.ErrNoSkill):
		return errNoSkill
	}
	return &refusal{fault, skills.Note}
}

// refusal is the error of a package that is not accepted.
type refusal struct {
	fault    *skillfs.ArchiveError
	severity skills.Severity
}

func (r *refusal) Error() string { return r.fault.Error() }

// Problem returns the refusal as a problem of the package.
func (r *refusal) Problem(file string) skills.Problem {
	if r.fault.Entry != "" {
		file += "/" + r.fault.Entry
	}
	return skills.Problem{Severity: r.severity, Path: file, Message: r.fault.Message, Remedy: r.fault.Remedy}
}
