package result

import (
	"context"
	"encoding/json"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxCallText bounds each stream of a skill that a script has called, in bytes.
const maxCallText = 256 << 10

// A Callees is the [run.Callees] of a lookup by name. A called skill's result is the [Run]
// of run_skill, with longer streams. Its files stay behind: the caller learns their names.
type Callees func(ctx context.Context, name string) (*skills.Skill, error)

// Find implements [run.Callees].
func (c Callees) Find(ctx context.Context, name string) (*skills.Skill, error) { return c(ctx, name) }

// Answer implements [run.Callees].
func (Callees) Answer(skill *skills.Skill, o *run.Outcome, err error) json.RawMessage {
	output := parseOutput(o, err)
	r := newRun(skill, o, output, maxCallText)
	if output.failed() {
		r.Error = output.reason(o)
	}
	return encoded(r)
}
