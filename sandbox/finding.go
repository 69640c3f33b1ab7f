package sandbox

import (
	"context"
	"errors"
	"fmt"
)

// A CheckedDriver is a [Driver] that says which of its parts work on this machine.
type CheckedDriver interface {
	Driver
	Check(ctx context.Context) []Finding
}

// A Finding is the result of one check whether commands can run.
type Finding struct {
	Subject string `json:"subject"` // such as "engine" or "image default"
	Level   Level  `json:"level"`
	Detail  string `json:"detail"`           // the finding, for a person
	Remedy  string `json:"remedy,omitempty"` // a remedy for a person
}

// A Level is the severity of a [Finding].
type Level string

// The levels, best first.
const (
	LevelOK      Level = "ok"
	LevelWarning Level = "warning" // commands run, but not as well or as safely as they could
	LevelFailed  Level = "failed"  // commands cannot run, or a promise is not kept
)

// OK returns a finding about what works.
func OK(subject, format string, args ...any) Finding {
	return Finding{Subject: subject, Level: LevelOK, Detail: fmt.Sprintf(format, args...)}
}

// Warning returns a finding about what could work better.
func Warning(subject, detail, remedy string) Finding {
	return Finding{Subject: subject, Level: LevelWarning, Detail: detail, Remedy: remedy}
}

// Failed returns a finding about what does not work.
func Failed(subject, detail, remedy string) Finding {
	return Finding{Subject: subject, Level: LevelFailed, Detail: detail, Remedy: remedy}
}

// FailedBy returns a finding about an error, with the remedy of an [*UnavailableError].
func FailedBy(subject string, err error) Finding {
	if none, ok := errors.AsType[*UnavailableError](err); ok {
		return Failed(subject, none.Reason, none.Remedy)
	}
	return Failed(subject, err.Error(), "")
}
