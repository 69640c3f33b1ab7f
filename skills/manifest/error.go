package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// An Error is the error of an item that cannot be loaded at all.
type Error struct {
	at              Position
	severity        skills.Severity // "" is Error
	message, remedy string
}

func (r *Error) Error() string { return r.message }

// Errorf returns the error of an item that cannot be loaded, at a position of its file.
func Errorf(at Position, remedy, format string, args ...any) *Error {
	return &Error{at: at, message: fmt.Sprintf(format, args...), remedy: remedy}
}

// Problem returns the error as a problem of a file.
func (r *Error) Problem(path string) skills.Problem {
	return skills.Problem{Severity: cmp.Or(r.severity, skills.Error), Path: path, Line: r.at.Line, Col: r.at.Col, Message: r.message, Remedy: r.remedy}
}

// ProblemOf returns the problem of an item that did not load.
func ProblemOf(file string, err error) skills.Problem {
	var own interface {
		Problem(file string) skills.Problem
	}
	if errors.As(err, &own) {
		return own.Problem(file)
	}
	var irregular *skillfs.NotRegularError
	if errors.As(err, &irregular) {
		return skills.Problem{Severity: skills.Error, Path: file, Message: irregular.Error(), Remedy: "put a file there"}
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return skills.UnreadableProblem(file, pathError.Err)
	}
	return skills.Problem{Severity: skills.Error, Path: file, Message: err.Error(), Remedy: "check that it exists and may be read"}
}

// A Position is a line and a column of a file, as its parser counts: line and
// column from 1, the column in characters. 0 is not known.
type Position struct{ Line, Col int }

// A Report records a problem of one file.
type Report func(severity skills.Severity, at Position, remedy, format string, args ...any)

func discard(skills.Severity, Position, string, string, ...any) {}

// ReadFile reads a manifest of at most limit bytes.
func ReadFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	data, err := skillfs.ReadRegular(fsys, name, limit)
	if errors.Is(err, skillfs.ErrTooLarge) {
		return nil, Errorf(Position{}, "move what is long into files beside it", "%s is larger than %d KiB", path.Base(name), limit>>10)
	}
	return data, err
}

// MaxSize is the largest SKILL.md or plugin.json that is read, in bytes.
const MaxSize = 1 << 20
