package run

// A Code says what kind of failure a call met, for programs.
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

// An Error is a call that failed. Its message is for the model that made the
// call, and says what to do next.
type Error struct {
	Code      Code
	Message   string
	Retryable bool  // the same call may succeed later
	Err       error // the cause, for the log; may be nil
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }
