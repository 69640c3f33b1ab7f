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

// An Error is a failed call. Its message tells the next step.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Model is the message for a model; "" is that for people. See [Error.ForModel].
	Model     string `json:"-"`
	Retryable bool   `json:"retryable"` // the same call may succeed later
	// Approval is the ID of the question that a person has to answer first; "" is none.
	Approval string `json:"approval,omitempty"`
	Err      error  `json:"-"` // the cause, for the log; may be nil
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// ForModel returns the error with the message for a model. Whatever answers a model, or a
// script that a model has started, calls it; a terminal, the page and REST do not.
func (e *Error) ForModel() *Error {
	if e.Model == "" {
		return e
	}
	told := *e
	told.Message = e.Model
	return &told
}

// Told returns the error with what a model is told besides, after its message.
func (e *Error) Told(model string) *Error {
	e.Model = e.Message + "; " + model
	return e
}

// invalid returns an [*Error] of the code InvalidParam.
func invalid(format string, args ...any) error {
	return &Error{Code: InvalidParam, Message: fmt.Sprintf(format, args...), Retryable: false, Err: nil}
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
		return &Error{Code: NotFound, Message: fmt.Sprintf("there is no sandbox %q of yours: it was never opened, or has ended; open one with open_sandbox", id), Retryable: false, Err: err}
	case errors.Is(err, sandbox.ErrBusy):
		return &Error{Code: Busy, Message: "the server is busy: " + err.Error() + "; try again in a moment", Retryable: true, Err: err}
	case errors.Is(err, sandbox.ErrClosed):
		return &Error{Code: Unavailable, Message: "the server is stopping", Retryable: true, Err: err}
	case errors.Is(err, sandbox.ErrLinked):
		return &Error{Code: PermissionDenied, Message: err.Error(), Retryable: false, Err: err}
	case errors.As(err, &unanswered):
		return &Error{Code: Timeout, Message: fmt.Sprintf("%s was stopped while it waited for an answer: %v", subject, err), Retryable: true, Err: err}
	case errors.As(err, &missing):
		return &Error{Code: Unavailable, Message: fmt.Sprintf("%s has to ask, and %v; use a client that can", subject, err), Retryable: false, Err: err}
	case errors.As(err, &limit) && limit.Limit == sandbox.LimitTime:
		return &Error{Code: Timeout, Message: subject + " was " + limit.Error() + "; ask for less at once", Retryable: false, Err: err}
	case errors.As(err, &limit):
		return &Error{Code: ExecutionError, Message: subject + " was " + limit.Error() + "; ask for less at once", Retryable: false, Err: err}
	case errors.As(err, &many) && many.Yours:
		return &Error{Code: Busy, Message: err.Error() + "; close one with close_sandbox", Retryable: true, Err: err}
	case errors.As(err, &many):
		return &Error{Code: Busy, Message: err.Error() + "; run each call in a sandbox of its own, without container_id, or try again later", Retryable: true, Err: err}
	case errors.As(err, &unavailable):
		return &Error{Code: Unavailable, Message: unavailable.Error(), Retryable: !unavailable.MayHaveRun, Err: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: ExecutionError, Message: "the call was cancelled", Retryable: true, Err: err}
	}
	return &Error{Code: InternalError, Message: err.Error(), Retryable: false, Err: err}
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
		return &Error{Code: Unavailable, Message: err.Error(), Retryable: true, Err: err}
	case errors.Is(err, elicit.ErrGone):
		return &Error{Code: Timeout, Message: err.Error() + "; make the call again, without requestState", Retryable: true, Err: err}
	case errors.Is(err, elicit.ErrTwice):
		return &Error{Code: Busy, Message: err.Error() + "; wait for that one", Retryable: false, Err: err}
	case errors.As(err, &broken):
		code := InternalError
		if unreadable, denied := broken.Unreadable(); denied {
			code = PermissionDenied
		} else if unreadable {
			code = ExecutionError
		}
		return (&Error{Code: code, Message: err.Error(), Retryable: false, Err: err}).Told("tell the person")
	case errors.As(err, &notFound):
		return &Error{Code: NotFound, Message: err.Error(), Model: err.Error() + " (list_skills and search_skills name those there are)", Retryable: false, Err: err}
	}
	return &Error{Code: InternalError, Message: err.Error(), Retryable: false, Err: err}
}
