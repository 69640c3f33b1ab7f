package setup

import "github.com/skillsmcp/skills-mcp/server/run"

// Standing returns an executor that knows which calls given approvals cover. It runs none.
func (s *Settings) Standing() *run.Executor {
	snapshots, err := OpenSnapshots()
	if err != nil {
		return run.New(nil, nil, nil, nil)
	}
	sandboxes := *s.Sandboxes
	sandboxes.Pins = s.Pins(snapshots)
	return sandboxes.Executor(nil, nil, snapshots, s.Approvals(nil))
}
