package audit

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// The outcomes of runs, beside those of package store.
const (
	// OK is a command that ended well.
	OK = "ok"
	// Error is a command that ended with an error of its own: another exit code than 0,
	// or an output that is not as declared.
	Error = "error"
	// Failed is a run that could not start, or that a limit ended.
	Failed = "failed"
	// Refused is a call that is not allowed, or that nobody has confirmed.
	Refused = "refused"
	// Invalid is a call with wrong arguments.
	Invalid = "invalid"
	// Undelivered is a run without a receiver: the call was cancelled, or its client left.
	Undelivered = "undelivered"
)

// Outcomes returns the outcomes of runs.
func Outcomes() []string {
	return []string{OK, Error, Failed, Refused, Invalid, Undelivered, store.Running, store.Interrupted}
}

// outcome returns the outcome of a run.
func outcome(r run.Record) string {
	if errors.Is(r.Err, context.Canceled) || errors.Is(r.Err, context.DeadlineExceeded) {
		return Undelivered
	}
	ended := r.Outcome != nil && r.Outcome.Exited
	if r.Err == nil {
		if ended && r.Outcome.Code != 0 {
			return Error
		}
		return OK
	}
	switch code := codeOf(r.Err); {
	case ended && code == run.ExecutionError:
		return Error
	case code == run.PermissionDenied, code == run.ApprovalRequired:
		return Refused
	case code == run.InvalidParam, code == run.NotFound:
		return Invalid
	}
	return Failed
}

// codeOf returns the code of an error; "" for nil.
func codeOf(err error) run.Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*run.Error](err); ok {
		return e.Code
	}
	return run.InternalError
}

// Owner returns a principal as rows name it: without its session.
func Owner(p identity.Principal) store.RunOwner {
	return store.RunOwner{Principal: string(p.Kind), Subject: cut(p.ID, maxText), Profile: p.Profile}
}

// row returns the row of a proposal, without its end.
func row(p *run.Proposal, secrets []string, started time.Time) *store.Run {
	owner := Owner(p.Principal)
	r := &store.Run{
		ID: p.RunID, Parent: parent(p), Started: started, Ended: time.Now(), PID: os.Getpid(), Times: 1,
		Principal: owner.Principal, Subject: owner.Subject, Profile: owner.Profile,
		Way: string(p.Way), Action: string(p.Action), Digest: p.Digest, Approval: p.Approval,
		Args: arguments(p, secrets),
	}
	if p.Skill != nil {
		r.Skill, r.Origin, r.Class = p.Skill.QualifiedName(), p.Skill.Origin().String(), string(p.Skill.Class)
	}
	if d := p.Decision; d != nil {
		r.Rule, r.Class = cut(d.Rule, maxText), cmp.Or(string(d.Class), r.Class)
		r.Grant = encode(grant{d.Grant.Workspaces, d.Grant.Write, d.Grant.Hosts, p.Variables, d.SecretLines()}, maxList)
	}
	return r
}

// parent returns the ID of the run or of the subagent's session that a call is of; "" is a
// client's own.
func parent(p *run.Proposal) string {
	if p.Parent == "" && p.Principal.Agents != nil {
		return p.Principal.Session
	}
	return p.Parent
}

// grant is the JSON form of a grant. Variables are names.
type grant struct {
	Workspaces []string `json:"workspaces,omitempty"`
	Write      bool     `json:"write,omitempty"`
	Hosts      []string `json:"hosts,omitempty"`
	Variables  []string `json:"variables,omitempty"`
	Secrets    []string `json:"secrets,omitempty"` // their grants
}

// finish adds the end of a run to its row.
func finish(row *store.Run, r run.Record, redact *Redactor) {
	row.Outcome, row.Error = outcome(r), string(codeOf(r.Err))
	if r.Err != nil {
		row.Message = cut(redact.Text(r.Concealed(r.Err.Error())), maxMessage)
	}
	if limit, ok := errors.AsType[*sandbox.LimitError](r.Err); ok {
		row.Limit = limit.Limit
	}
	o := r.Outcome
	if o == nil {
		return
	}
	row.Duration, row.Stdout, row.Stderr = o.WallTime, o.Stdout.Total, o.Stderr.Total
	if row.Outcome == Error && r.Err == nil {
		row.Message = cut(redact.Text(lastLine(o.Stderr)), maxMessage)
	}
	if o.Exited {
		row.Exit = &o.Code
	}
	for _, f := range o.Out.Taken {
		row.Files += int64(len(f.Data))
	}
	if len(o.Connections) > 0 {
		row.Connections = encode(o.Connections[:min(len(o.Connections), maxConnections)], maxList)
	}
}

// lastLine returns the last line of an error output, where most programs say why they failed;
// "" if the line is long: its beginning may be missing, and with it a part of a secret.
func lastLine(o sandbox.Output) string {
	end, cut := o.Head, len(o.Tail) > 0
	if cut {
		end = o.Tail
	}
	if most := 4 * maxMessage; len(end) > most {
		end, cut = end[len(end)-most:], true
	}
	text := strings.TrimRight(termtext.Text(string(end)), " \r\n")
	start := strings.LastIndexAny(text, "\r\n") + 1
	if start == 0 && cut {
		return ""
	}
	return strings.TrimSpace(text[start:])
}

// maxConnections is the number of connections of one run that are recorded.
const maxConnections = 50
