package approval

import (
	"fmt"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// fetch returns the lines about a skill of another MCP server that a yes fetches.
func fetch(q *Question, b bounds) []string {
	return []string{
		mark + quote(q.Skill) + ", of the server",
		mark + quote(q.Fetch.Address),
		mark + fmt.Sprintf("%s, digest of all", size(q.Fetch)),
		mark + b.digest(q.Digest),
		"A yes is to these files, in this version: any change asks again. A model then reads the",
		"instructions. Scripts run in the sandbox only, and ask like those of any other skill.",
	}
}

// size returns the size of a fetch, for people.
func size(f *run.Fetch) string { return fmt.Sprintf("%d files with %d bytes", f.Files, f.Bytes) }
