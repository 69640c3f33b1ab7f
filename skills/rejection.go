package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A rejection is the error of an item that cannot be loaded at all.
type rejection struct {
	at              position
	severity        Severity // "" is Error
	message, remedy string
}

func (r *rejection) Error() string { return r.message }

func reject(at position, remedy, format string, args ...any) *rejection {
	return &rejection{at: at, message: fmt.Sprintf(format, args...), remedy: remedy}
}

// Problem returns the rejection as a problem of a file.
func (r *rejection) Problem(path string) Problem {
	return Problem{cmp.Or(r.severity, Error), path, r.at.line, r.at.col, r.message, r.remedy}
}

// rejected returns the problem of an item that did not load.
func rejected(file string, err error) Problem {
	var own interface{ Problem(file string) Problem }
	if errors.As(err, &own) {
		return own.Problem(file)
	}
	var irregular *skillfs.NotRegularError
	if errors.As(err, &irregular) {
		return Problem{Error, file, 0, 0, irregular.Error(), "put a file there"}
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return UnreadableProblem(file, pathError.Err)
	}
	return Problem{Error, file, 0, 0, err.Error(), notLoaded}
}
