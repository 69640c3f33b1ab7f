package main

import "github.com/skillsmcp/skills-mcp/server/run"

// standing returns an executor that knows which calls given approvals cover. It runs none.
func (s *settings) standing() *run.Executor {
	snapshots, err := openSnapshots()
	if err != nil {
		return run.New(nil, nil, nil, nil)
	}
	sandboxes := *s.sandboxes
	sandboxes.pins = s.pins(snapshots)
	return sandboxes.executor(nil, nil, snapshots, s.approvals(nil))
}
