package run

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestTranslate(t *testing.T) {
	for _, test := range []struct {
		err       error
		code      Code
		retryable bool
		message   string
	}{
		{sandbox.ErrBusy, Busy, true, "the server is busy: all slots are taken and the queue is full; try again in a moment"},
		{sandbox.ErrClosed, Unavailable, true, "the server is stopping"},
		{&sandbox.LimitError{Limit: sandbox.LimitTime, Value: "5s"}, Timeout, false, "the skill was stopped at its time limit of 5s; ask for less at once"},
		{&sandbox.LimitError{Limit: sandbox.LimitMemory, Value: "1 MB"}, ExecutionError, false, "the skill was stopped at its memory limit of 1 MB; ask for less at once"},
		{&sandbox.UnavailableError{Reason: "no engine", Remedy: "start one"}, Unavailable, true, "no engine; start one"},
		{&sandbox.UnavailableError{Reason: "the connection was lost", Remedy: "look", MayHaveRun: true}, Unavailable, false, "the connection was lost; look"},
		{sandbox.ErrLinked, PermissionDenied, false, sandbox.ErrLinked.Error()},
		{context.Canceled, ExecutionError, true, "the call was cancelled"},
		{errors.New("other"), InternalError, false, "other"},
	} {
		var e *Error
		if err := translate("the skill", "", test.err); !errors.As(err, &e) || e.Code != test.code || e.Retryable != test.retryable || e.Message != test.message || !errors.Is(err, test.err) {
			t.Errorf("%v: %+v", test.err, err)
		}
	}
	if translate("", "", nil) != nil {
		t.Error("no error became one")
	}
}

// The code says whether a skill's file could not be read, or is wrong.
func TestCodesOfBrokenSkills(t *testing.T) {
	for message, want := range map[string]string{
		"it cannot be read: permission denied":  "PERMISSION_DENIED",
		"it cannot be read: input/output error": "EXECUTION_ERROR",
		"the frontmatter is not closed":         "INTERNAL_ERROR",
	} {
		e := AsError(&skills.BrokenError{Name: "x", Problem: skills.Problem{Severity: skills.Error, Path: "x/SKILL.md", Message: message}})
		if string(e.Code) != want || !strings.Contains(e.Message, message) {
			t.Errorf("%s: %+v", message, e)
		}
	}
}
