package run

import (
	"encoding/json"
	"fmt"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// newOutcome returns the outcome of a command, or nil if it never started.
func newOutcome(j *job, p *Proposal, result *sandbox.Result) *Outcome {
	if result == nil {
		return nil
	}
	what := j.subject
	if j.action == ActionSkill {
		what = "skill " + j.label
	}
	return &Outcome{RunID: j.id, What: what, Digest: p.Digest, Result: result}
}

// checkOutput returns an error if a script ended well and did not print one JSON
// value, as it has to. The error is an [*Error].
func checkOutput(skill *skills.Skill, o *Outcome) error {
	if o.Code != 0 || !skill.Entry.OutputJSON || !o.Stdout.Truncated() && json.Valid(o.Stdout.Bytes()) {
		return nil
	}
	what := "is not JSON"
	switch {
	case o.Stdout.Total == 0:
		what = "is empty"
	case o.Stdout.Truncated():
		what = fmt.Sprintf("is longer than the %d bytes that are kept", len(o.Stdout.Head)+len(o.Stdout.Tail))
	}
	return &Error{Code: ExecutionError, Message: fmt.Sprintf("%s ended well, but its output %s, and it has to print one JSON value; its maintainer has to fix it", o.What, what), Retryable: false, Err: nil}
}
