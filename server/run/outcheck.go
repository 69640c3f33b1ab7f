package run

import (
	"encoding/json"
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills"
)

// checkOutput refuses what a script printed that ended well and had to print one
// JSON value.
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
	return &Error{ExecutionError, fmt.Sprintf("%s ended well, but its output %s, and it has to print one JSON value; whoever maintains it has to fix it", o.What, what), false, nil}
}
