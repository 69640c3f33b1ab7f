package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// maxText is how many bytes of a stream a model gets to read, head and tail.
const maxText = 48 << 10

// maxStructure is the largest stdout that is returned as structured content, for
// programs, in bytes.
const maxStructure = 1 << 20

// maxErrorText is how much of stderr's end tells why a script failed.
const maxErrorText = 4 << 10

// reply is a result whose text is its structure as JSON.
func reply(structured any) (*mcp.CallToolResult, error) {
	text, err := json.Marshal(structured)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(string(text))}, StructuredContent: structured}, nil
}

// failed is the structure of a failed call.
type failed struct {
	Error failedCall `json:"error"`
}

type failedCall struct {
	Code      run.Code `json:"code"`
	Message   string   `json:"message"`
	Retryable bool     `json:"retryable"`
}

// failure words an error for the model; the log gets what it is not told.
func (s *Server) failure(err error) *mcp.CallToolResult {
	e := asCallError(err)
	if e.Code == run.InternalError || e.Code == run.Unavailable {
		s.logger.Warn("a call failed", "code", e.Code, "error", err, "cause", e.Err)
	}
	return &mcp.CallToolResult{
		IsError:           true,
		Content:           []mcp.Content{mcp.NewTextContent(fmt.Sprintf("%s: %s", e.Code, e.Message))},
		StructuredContent: failed{failedCall{e.Code, e.Message, e.Retryable}},
	}
}

func asCallError(err error) *run.Error {
	var e *run.Error
	var notFound *skills.NotFoundError
	var broken *skills.BrokenError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, sandbox.ErrClosed):
		return &run.Error{Code: run.Unavailable, Message: err.Error(), Retryable: true, Err: err}
	case errors.Is(err, elicit.ErrGone):
		return &run.Error{Code: run.Timeout, Message: err.Error() + "; make the call again, without requestState", Retryable: true, Err: err}
	case errors.Is(err, elicit.ErrTwice):
		return &run.Error{Code: run.Busy, Message: err.Error() + "; wait for that one", Err: err}
	case errors.As(err, &broken):
		code := run.InternalError
		if unreadable, denied := broken.Unreadable(); denied {
			code = run.PermissionDenied
		} else if unreadable {
			code = run.ExecutionError
		}
		return &run.Error{Code: code, Message: err.Error() + "; tell the person", Err: err}
	case errors.As(err, &notFound):
		return &run.Error{Code: run.NotFound, Message: err.Error() + " (list_skills and search_skills name those there are)", Err: err}
	}
	return &run.Error{Code: run.InternalError, Message: err.Error(), Err: err}
}

// RunResult is what run_skill and run_code return.
type RunResult struct {
	Skill     string          `json:"skill,omitempty"` // "" where code of none was run
	RunID     string          `json:"run_id"`
	ExitCode  *int            `json:"exit_code,omitempty"` // nil where it was stopped before it ended
	Stdout    string          `json:"stdout"`
	Stderr    string          `json:"stderr"`
	Result    json.RawMessage `json:"result,omitempty"` // the structured content
	WallTime  int64           `json:"wall_time_ms"`
	Truncated bool            `json:"truncated"`
	Sandbox   string          `json:"sandbox,omitempty"` // the driver, where known
	Digest    string          `json:"digest,omitempty"`
	Out       []OutFile       `json:"out,omitempty"`
	OutLeft   []string        `json:"out_left,omitempty"`   // what was not taken of /out, and why
	StdoutURI string          `json:"stdout_uri,omitempty"` // where it can be read uncut for a while
	StderrURI string          `json:"stderr_uri,omitempty"`
	Note      string          `json:"note,omitempty"` // how to read the rest of truncated streams
	// Connections are those that the skill made or was refused, the first of
	// them where there are many.
	Connections []sandbox.Connection `json:"connections,omitempty"`
	Error       *failedCall          `json:"error,omitempty"`
}

// NewRunResult describes a run that started, of a skill or of code, where skill
// is nil or the one whose folder was at hand. err is why it did not end by
// itself.
func NewRunResult(skill *skills.Skill, o *run.Outcome, err error) RunResult {
	return newRunResult(skill, o, meaning(skill, o, err))
}

func newRunResult(skill *skills.Skill, o *run.Outcome, said said) RunResult {
	stdout, stderr := o.Stdout.Cut(maxText), o.Stderr.Cut(maxText)
	r := RunResult{
		Skill:     nameOf(skill),
		RunID:     o.RunID,
		Stdout:    text(stdout),
		Stderr:    text(stderr),
		WallTime:  o.WallTime.Milliseconds(),
		Truncated: stdout.Truncated() || stderr.Truncated(),
		Sandbox:   o.Sandbox,
		Digest:    o.Digest,
		Out:       outFiles(o.Out.Taken),
		OutLeft:   o.Out.Left,

		Connections: firstConnections(o.Connections),
	}
	if o.Exited {
		r.ExitCode = &o.Code
	}
	r.Result = said.object
	if e := said.err; e != nil {
		r.Error = &failedCall{e.Code, e.Message, e.Retryable}
	}
	return r
}

// maxConnections is how many connections a result names.
const maxConnections = 50

// firstConnections returns the first of many, and one for all others.
func firstConnections(all []sandbox.Connection) []sandbox.Connection {
	if len(all) <= maxConnections {
		return all
	}
	rest := sandbox.Connection{Host: fmt.Sprintf("(%d more; the log names them)", len(all)-maxConnections)}
	for _, c := range all[maxConnections:] {
		rest.Sent += c.Sent
		rest.Got += c.Got
	}
	return append(slices.Clone(all[:maxConnections]), rest)
}

// runError returns why a run failed, or nil.
func runError(o *run.Outcome, err error) *run.Error {
	if err != nil {
		return asCallError(err)
	}
	if o.Code == 0 {
		return nil
	}
	why := "; its error output says why"
	switch {
	case len(o.Stderr.Head) > 0:
	case len(o.Stdout.Head) > 0:
		why = "; it wrote nothing to its error output: what it printed may say why"
	default:
		why = " and said nothing"
	}
	message := fmt.Sprintf("%s failed with exit code %d%s", o.What, o.Code, why)
	if o.Hint != "" {
		message += "; " + o.Hint
	}
	return &run.Error{Code: run.ExecutionError, Message: message}
}

// skillResult returns the result of a skill's own tool. Claude Code and Codex show
// a model the structure instead of the contents, so there is one only where the
// tool declares an output schema, or where the contents say no more.
func (a *account) skillResult(entry *skills.Entry, o *run.Outcome) *mcp.CallToolResult {
	result := &mcp.CallToolResult{IsError: a.said.failed()}
	object, declared := a.said.object, entry.Output != nil
	switch {
	case a.said.err != nil:
		result.Content = append(a.failure(o), a.left...)
		if a.complete() {
			result.StructuredContent = a.RunResult
		}
		return result
	case len(a.items) == 0:
		result.Content = []mcp.Content{mcp.NewTextContent(a.text(o))}
	case object == nil || declared:
		result.Content = a.items
	default:
		result.Content = append(slices.Clone(a.items), mcp.NewTextContent(string(object)))
	}
	result.Content = slices.Concat(result.Content, a.left, a.aside)
	switch {
	case object == nil:
	case declared:
		result.StructuredContent = a.withFiles(entry, object)
	case len(result.Content) == 1 && !a.Truncated && strings.TrimSpace(a.Stderr) == "":
		result.StructuredContent = object
	}
	return result
}

// complete reports whether the run's structure has all that the contents show.
func (a *account) complete() bool {
	return onlyTexts(a.items) && !slices.ContainsFunc(a.left, func(c mcp.Content) bool {
		switch c.(type) {
		case mcp.ImageContent, mcp.AudioContent:
			return true
		}
		return false // files and their texts are in it
	})
}

func onlyTexts(contents []mcp.Content) bool {
	return !slices.ContainsFunc(contents, func(c mcp.Content) bool { _, text := mcp.AsTextContent(c); return !text })
}

// withFiles adds the files that a run left to its structure, as "out", where the
// schema has room for them.
func (a *account) withFiles(entry *skills.Entry, object json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if len(a.Out) == 0 || json.Unmarshal(object, &members) != nil || members["out"] != nil {
		return object
	}
	members["out"] = encoded(a.Out)
	if whole := json.RawMessage(encoded(members)); entry.CheckOutput(whole) == nil {
		return whole
	}
	return object
}

// text is what a run has printed, for a model.
func (a *account) text(o *run.Outcome) string {
	output := text(o.Stdout.Cut(maxText))
	if a.said.result != nil {
		output = text(sandbox.Output{Head: a.said.object, Total: int64(len(a.said.object))}.Cut(maxText))
	}
	if strings.TrimSpace(output) == "" {
		return o.What + " has ended well and printed nothing"
	}
	return output
}

// failure tells a model why a run failed: the reason, the end of stderr, and
// what was said or printed until then.
func (a *account) failure(o *run.Outcome) []mcp.Content {
	e := a.said.err
	content := []mcp.Content{mcp.NewTextContent(fmt.Sprintf("%s: %s", e.Code, e.Message))}
	if end := lastText(o.Stderr); end != "" {
		content = append(content, mcp.NewTextContent("stderr:\n"+end))
	}
	if a.said.result != nil {
		return append(content, a.items...)
	}
	if printed := text(o.Stdout.Cut(maxErrorText)); strings.TrimSpace(printed) != "" {
		content = append(content, mcp.NewTextContent("stdout:\n"+printed))
	}
	return content
}

// lastText returns the end of a stream.
func lastText(o sandbox.Output) string {
	all := append(append([]byte(nil), o.Head...), o.Tail...)
	if len(all) > maxErrorText {
		all = append([]byte("…"), all[len(all)-maxErrorText:]...)
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(all), "\ufffd"))
}

// text is an output as text: what is no UTF-8 is replaced.
func text(o sandbox.Output) string {
	return strings.ToValidUTF8(string(o.Bytes()), "\ufffd")
}

// jsonObject returns an output that is one JSON object, or nil.
func jsonObject(o sandbox.Output) json.RawMessage {
	if o.Truncated() || o.Total > maxStructure {
		return nil
	}
	all := strings.TrimSpace(string(o.Bytes()))
	if !strings.HasPrefix(all, "{") {
		return nil
	}
	if _, err := schema.Decode([]byte(all)); err != nil { // clients would not read it
		return nil
	}
	return json.RawMessage(all)
}
