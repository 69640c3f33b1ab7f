package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxText bounds the part of a stream that a model reads, head and tail, in bytes.
const maxText = 48 << 10

// maxErrorText bounds the end of stderr in the report of a failure, in bytes.
const maxErrorText = 4 << 10

// maxResultChars bounds the result of a run, for clients with a lower limit of their
// own: 48 KB of stdout, as much of stderr, as much of texts in files, and the
// growth by quoting.
const maxResultChars = 4 * maxText

// largeResult returns metadata that asks a client not to cut a result: everything that
// is too much for a model is cut already.
func largeResult() *mcp.Meta {
	return mcp.NewMetaFromMap(map[string]any{"anthropic/maxResultSizeChars": maxResultChars})
}

// A RunResult is the result of run_skill and run_code.
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
	OutLeft   []string        `json:"out_left,omitempty"`   // files that were not taken from /out, and why
	StdoutURI string          `json:"stdout_uri,omitempty"` // where it can be read uncut for a while
	StderrURI string          `json:"stderr_uri,omitempty"`
	Note      string          `json:"note,omitempty"` // how to read the rest of truncated streams
	// Connections are those that the skill made or was refused, the first of
	// them where there are many.
	Connections []sandbox.Connection `json:"connections,omitempty"`
	Error       *failedCall          `json:"error,omitempty"`
}

// NewRunResult returns the result of a run that has started. skill is the one that ran,
// or whose folder was mounted for code; nil is none. err is the error that ended the run,
// or nil.
func NewRunResult(skill *skills.Skill, o *run.Outcome, err error) RunResult {
	return newRunResult(skill, o, parseOutput(skill, o, err))
}

func newRunResult(skill *skills.Skill, o *run.Outcome, output scriptOutput) RunResult {
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
	r.Result = output.object
	if e := output.err; e != nil {
		r.Error = &failedCall{e.Code, e.Message, e.Retryable}
	}
	return r
}

// nameOf returns the name of a skill, or "" for nil.
func nameOf(skill *skills.Skill) string {
	if skill == nil {
		return ""
	}
	return skill.QualifiedName()
}

// An OutFile is a file that a run left in /out.
type OutFile struct {
	Name     string `json:"name"` // its path below /out
	Size     int    `json:"size"` // bytes
	MIMEType string `json:"mime_type"`
	URI      string `json:"uri,omitempty"`  // where it can be read for a while
	Text     string `json:"text,omitempty"` // all of it, where it is a short text
}

// outFiles describes the files of a run.
func outFiles(taken []sandbox.File) []OutFile {
	var files []OutFile
	for _, f := range taken {
		files = append(files, OutFile{Name: f.Name, Size: len(f.Data), MIMEType: media.Type(f.Name, f.Data)})
	}
	return files
}

// maxConnections bounds the connections that a result names.
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

// lastText returns the end of a stream.
func lastText(o sandbox.Output) string {
	all := append(append([]byte(nil), o.Head...), o.Tail...)
	if len(all) > maxErrorText {
		all = append([]byte("…"), all[len(all)-maxErrorText:]...)
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(all), "\ufffd"))
}

// text returns an output as text, with bytes that are no UTF-8 replaced.
func text(o sandbox.Output) string {
	return strings.ToValidUTF8(string(o.Bytes()), "\ufffd")
}
