package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Code names the kind of failure that a call met, for programs.
type Code string

// The codes of failed calls.
const (
	InvalidParam     Code = "INVALID_PARAM"
	NotFound         Code = "NOT_FOUND"
	PermissionDenied Code = "PERMISSION_DENIED"
	ApprovalRequired Code = "APPROVAL_REQUIRED"
	Unavailable      Code = "UNAVAILABLE"
	Busy             Code = "BUSY"
	Timeout          Code = "TIMEOUT"
	ExecutionError   Code = "EXECUTION_ERROR"
	InternalError    Code = "INTERNAL_ERROR"
)

// An Error is a failed call. Its message tells the model that made the call the next
// step.
type Error struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"` // the same call may succeed later
	Err       error  `json:"-"`         // the cause, for the log; may be nil
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// invalid returns an [*Error] of the code InvalidParam.
func invalid(format string, args ...any) error {
	return &Error{InvalidParam, fmt.Sprintf(format, args...), false, nil}
}

// translate returns the [*Error] for an error of package sandbox, of a decider or of
// secrets, whose own [*Error] stays; nil for nil. subject begins the message, such as "the skill"; id is that of the session
// that the call names, if it names one.
func translate(subject, id string, err error) error {
	var own *Error
	var limit *sandbox.LimitError
	var unanswered *elicit.WaitError
	var missing *elicit.MissingError
	var many *session.TooManyError
	var unavailable *sandbox.UnavailableError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, session.ErrNotFound):
		return &Error{NotFound, fmt.Sprintf("there is no sandbox %q of yours: it was never opened, or has ended; open one with open_sandbox", id), false, err}
	case errors.Is(err, sandbox.ErrBusy):
		return &Error{Busy, "the server is busy: " + err.Error() + "; try again in a moment", true, err}
	case errors.Is(err, sandbox.ErrClosed):
		return &Error{Unavailable, "the server is stopping", true, err}
	case errors.As(err, &unanswered):
		return &Error{Timeout, fmt.Sprintf("%s asked a question and was stopped while it waited for the answer: %v; make the call again when the person is there", subject, err), true, err}
	case errors.As(err, &missing):
		return &Error{Unavailable, fmt.Sprintf("%s has to ask, and %v; use a client that can", subject, err), false, err}
	case errors.As(err, &limit) && limit.Limit == sandbox.LimitTime:
		return &Error{Timeout, subject + " was " + limit.Error() + "; ask for less at once", false, err}
	case errors.As(err, &limit):
		return &Error{ExecutionError, subject + " was " + limit.Error() + "; ask for less at once", false, err}
	case errors.As(err, &many) && many.Yours:
		return &Error{Busy, err.Error() + "; close one with close_sandbox", true, err}
	case errors.As(err, &many):
		return &Error{Busy, err.Error() + "; run each call in a sandbox of its own, without container_id, or try again later", true, err}
	case errors.As(err, &unavailable):
		return &Error{Unavailable, unavailable.Error(), true, err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{ExecutionError, "the call was cancelled", true, err}
	}
	return &Error{InternalError, err.Error(), false, err}
}

// AsError returns an error of any kind as one for the model.
func AsError(err error) *Error {
	var e *Error
	var notFound *skills.NotFoundError
	var broken *skills.BrokenError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, sandbox.ErrClosed):
		return &Error{Unavailable, err.Error(), true, err}
	case errors.Is(err, elicit.ErrGone):
		return &Error{Timeout, err.Error() + "; make the call again, without requestState", true, err}
	case errors.Is(err, elicit.ErrTwice):
		return &Error{Busy, err.Error() + "; wait for that one", false, err}
	case errors.As(err, &broken):
		code := InternalError
		if unreadable, denied := broken.Unreadable(); denied {
			code = PermissionDenied
		} else if unreadable {
			code = ExecutionError
		}
		return &Error{code, err.Error() + "; tell the person", false, err}
	case errors.As(err, &notFound):
		return &Error{NotFound, err.Error() + " (list_skills and search_skills name those there are)", false, err}
	}
	return &Error{InternalError, err.Error(), false, err}
}
