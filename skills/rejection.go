package skills

import "fmt"

// rejection is the error of an item that cannot be loaded at all.
type rejection struct {
	at              position
	message, remedy string
}

func (r *rejection) Error() string { return r.message }

func reject(at position, remedy, format string, args ...any) *rejection {
	return &rejection{at: at, message: fmt.Sprintf(format, args...), remedy: remedy}
}

// problem returns the rejection as a problem of a file.
func (r *rejection) problem(path string) Problem {
	return Problem{Error, path, r.at.line, r.at.col, r.message, r.remedy}
}
