package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// Path is the beginning of the paths of the API.
const Path = "/v1/"

// A Problem is the body of an error (RFC 9457).
type Problem struct {
	Type      string   `json:"type"` // always "about:blank": the code tells problems apart
	Title     string   `json:"title"`
	Status    int      `json:"status"`
	Detail    string   `json:"detail" jsonschema_description:"the next step, for a person or a model"`
	Code      run.Code `json:"code"`
	Retryable bool     `json:"retryable" jsonschema_description:"the same request may succeed later"`
	// Approval is the question that a person has to answer first.
	Approval *Pending `json:"approval,omitempty"`
	// Error repeats code and detail for a run, as ongrid has them; Run is the run, if it
	// has started.
	Error *describe.Refusal `json:"error,omitempty"`
	Run   *result.Run       `json:"run,omitempty"`
}

// A Pending names a question that waits for an answer.
type Pending struct {
	ID   string `json:"id"`
	Href string `json:"href" jsonschema_description:"of the question in this API"`
	Page string `json:"page,omitempty" jsonschema_description:"where a person answers it"`
}

// A statusError is an error of HTTP itself, or a [run.Error] with a status of its own.
type statusError struct {
	status int
	err    *run.Error
}

func (e *statusError) Error() string { return e.err.Error() }

func (e *statusError) Unwrap() error { return e.err }

// refuse returns the error of a request that is wrong as HTTP.
func refuse(status int, format string, args ...any) error {
	code := run.InvalidParam
	if status == http.StatusNotFound {
		code = run.NotFound
	}
	return &statusError{status, &run.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// problem returns an error as the body of an answer. page is that of the options.
func problem(err error, page func(approval string) string) *Problem {
	e := run.AsError(err)
	if wrong, ok := errors.AsType[*approval.AnswerError](err); ok {
		e = &run.Error{Code: run.InvalidParam, Message: wrong.Error()}
	}
	p := &Problem{Type: "about:blank", Status: Status(e.Code), Detail: e.Message, Code: e.Code, Retryable: e.Retryable}
	if own, ok := errors.AsType[*statusError](err); ok {
		p.Status = own.status
	}
	p.Title = cmp.Or(http.StatusText(p.Status), "Error")
	if e.Approval != "" {
		p.Approval = &Pending{ID: e.Approval, Href: Path + "approvals/" + e.Approval}
		if page != nil {
			p.Approval.Page = page(e.Approval)
		}
	}
	return p
}

// A runError is the error of a run.
type runError struct {
	err *run.Error
	run *result.Run // nil: it has not started
}

func (e *runError) Error() string { return e.err.Error() }

func (e *runError) Unwrap() error { return e.err }

// retryAfter is the time after which a client may try again, in seconds.
const retryAfter = "2"

// write answers with the problem.
func (p *Problem) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	if p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable {
		header.Set("Retry-After", retryAfter)
	}
	protect(header)
	body, _ := json.Marshal(p) // of strings
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}

// protect sets the headers of every answer: skills have written parts of many.
func protect(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
}

// Fail answers a request that is refused before it reaches a handler: as a problem for
// the paths of the API, and as plain text for others, as [http.Error] does.
func Fail(w http.ResponseWriter, r *http.Request, message string, status int) {
	if !strings.HasPrefix(r.URL.Path, Path) {
		http.Error(w, message, status)
		return
	}
	code := run.PermissionDenied
	if status == http.StatusServiceUnavailable {
		code = run.Unavailable
	}
	p := problem(&statusError{status, &run.Error{Code: code, Message: message, Retryable: code == run.Unavailable}}, nil)
	p.write(w)
}

// Status returns the HTTP status of a code.
func Status(code run.Code) int {
	switch code {
	case run.InvalidParam:
		return http.StatusBadRequest
	case run.NotFound:
		return http.StatusNotFound
	case run.PermissionDenied, run.ApprovalRequired:
		return http.StatusForbidden
	case run.Unavailable:
		return http.StatusServiceUnavailable
	case run.Busy:
		return http.StatusTooManyRequests
	case run.Timeout:
		return http.StatusGatewayTimeout
	case run.ExecutionError:
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}
