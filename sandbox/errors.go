package sandbox

import (
	"errors"
	"fmt"
)

// ErrBusy is returned when neither a slot nor a place in the queue is free.
var ErrBusy = errors.New("all slots are taken and the queue is full")

// ErrClosed is returned by runs after Close, and is the cause of the end of
// those that were under way.
var ErrClosed = errors.New("the server is stopping")

// ErrLinked says that a path of a workspace cannot be protected.
var ErrLinked = errors.New("it is a symbolic link; put what it leads to in its place, or grant the skill to write it by name")

// An UnavailableError says that no sandbox could be had, or that it was lost:
// the engine went away under a running command. Trying again later may work.
type UnavailableError struct {
	// Reason names the lack, such as "no Docker engine answers at …".
	Reason string
	// Remedy is an imperative for a person.
	Remedy string
	// Program is the one that the sandbox does not have, and that was to be run;
	// for others there is a sandbox. It is "" where that is not the reason.
	Program string
	// MayHaveRun says that the command may have begun, so that nobody repeats it unseen.
	MayHaveRun bool
	// Err is the cause, for the log; it may be nil.
	Err error
}

func (e *UnavailableError) Error() string {
	if e.Remedy == "" {
		return e.Reason
	}
	return e.Reason + "; " + e.Remedy
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// The limits that a [LimitError] names.
const (
	LimitTime   = "time"
	LimitOutput = "output"
	LimitMemory = "memory"
)

// A LimitError says which limit ended a command.
type LimitError struct {
	Limit string // one of the constants above
	Value string // the limit's value, for people, such as "512 MB"
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("stopped at its %s limit of %s", e.Limit, e.Value)
}
