package run

import "github.com/skillsmcp/skills-mcp/sandbox"

// newOutcome returns the outcome of a command, or nil if it never started.
func newOutcome(j *job, p *Proposal, result *sandbox.Result) *Outcome {
	if result == nil {
		return nil
	}
	o := &Outcome{RunID: j.id, What: j.subject, Digest: p.Digest, Result: result}
	if j.action == ActionSkill {
		o.What, o.Entry = "skill "+j.label, j.skill.Entry
	}
	return o
}
