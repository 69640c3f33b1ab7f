// Package result makes the result of a run: the one description of a run that MCP, the
// command line and other callers get, with the output of its script parsed and checked
// against the skill's output schema; and its report to an MCP client as contents.
//
// Start with [New], or with [NewReport] for a client.
package result

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/media"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// MaxText bounds the part of a stream that a model reads, head and tail, in bytes.
const MaxText = 48 << 10

// A Run is the result of run_skill and run_code.
type Run struct {
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
	Out       []File          `json:"out,omitempty"`
	OutLeft   []string        `json:"out_left,omitempty"`   // files that were not taken from /out, and why
	StdoutURI string          `json:"stdout_uri,omitempty"` // where it can be read uncut for a while
	StderrURI string          `json:"stderr_uri,omitempty"`
	Note      string          `json:"note,omitempty"` // how to read the rest of truncated streams
	// Connections are those that the skill made or was refused, the first of
	// them where there are many.
	Connections []sandbox.Connection `json:"connections,omitempty"`
	// Hooks are texts of plugins' hooks about the call.
	Hooks []string   `json:"hooks,omitempty"`
	Error *run.Error `json:"error,omitempty"`
}

// A File is a file that a run left in /out.
type File struct {
	Name     string `json:"name"` // its path below /out
	Size     int    `json:"size"` // bytes
	MIMEType string `json:"mime_type"`
	URI      string `json:"uri,omitempty"`  // where it can be read for a while
	Text     string `json:"text,omitempty"` // all of it, where it is a short text
}

// New returns the result of a run that has started. skill is the one that ran, or whose
// folder was mounted for code; nil is none. err is the error that ended the run, or nil.
func New(skill *skills.Skill, o *run.Outcome, err error) Run {
	return newRun(skill, o, parseOutput(o, err), MaxText)
}

// newRun returns the result of a run whose streams are cut to a number of bytes each.
func newRun(skill *skills.Skill, o *run.Outcome, output scriptOutput, most int) Run {
	stdout, stderr := o.Stdout.Cut(most), o.Stderr.Cut(most)
	r := Run{
		RunID:     o.RunID,
		Stdout:    text(stdout),
		Stderr:    text(stderr),
		Result:    output.object,
		WallTime:  o.WallTime.Milliseconds(),
		Truncated: stdout.Truncated() || stderr.Truncated(),
		Sandbox:   o.Sandbox,
		Digest:    o.Digest,
		OutLeft:   o.Out.Left,

		Connections: firstConnections(o.Connections),
		Hooks:       o.Hooks,
		Error:       output.err,
	}
	if skill != nil {
		r.Skill = skill.QualifiedName()
	}
	if o.Exited {
		r.ExitCode = &o.Code
	}
	for _, f := range o.Out.Taken {
		r.Out = append(r.Out, newFile(f))
	}
	return r
}

func newFile(f sandbox.File) File {
	return File{Name: f.Name, Size: len(f.Data), MIMEType: media.Type(f.Name, f.Data)}
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

// text returns an output as text, with bytes that are no UTF-8 replaced.
func text(o sandbox.Output) string {
	return strings.ToValidUTF8(string(o.Bytes()), "\ufffd")
}

// textOf returns data as an output, as far as it fits into room bytes.
func textOf(data []byte, room int) string {
	return text(sandbox.Output{Head: data, Total: int64(len(data))}.Cut(room))
}
