package lock

import "fmt"

// An Error says why a lock file is not accepted.
type Error struct {
	Line    int // from 1; 0 is the whole file
	Message string
	Remedy  string // an imperative
}

// Error implements error.
func (e *Error) Error() string {
	at := Name
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", Name, e.Line)
	}
	return fmt.Sprintf("%s: %s; %s", at, e.Message, e.Remedy)
}

// restore is the remedy of a file that lost its content.
const restore = "restore it from version control or a backup"
