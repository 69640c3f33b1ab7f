package kubernetes

import (
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A renewal knows the containers that the last command of a skill had ready.
type renewal struct {
	spec *spec
	warm int  // [sandbox.Command.Warm]
	due  bool // they were discarded since
	left int  // how often they may be renewed before the next command
}

// maxRenewals bounds the containers that are started for changes of a skill between two
// commands: a file may be written all the time.
const maxRenewals = 4

// renewals hold the renewal of each skill that had a command.
type renewals struct {
	mu  sync.Mutex
	all map[string]*renewal
}

// ran notes a command in a container of spec.
func (r *renewals) ran(cmd *sandbox.Command, spec *spec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]*renewal{}
	}
	r.all[cmd.Skill] = &renewal{spec: spec, warm: cmd.Warm, left: maxRenewals}
}

// discarded notes that the containers of a skill were discarded.
func (r *renewals) discarded(skill string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.all[skill]; one != nil {
		one.due = true
	}
}

// due returns the renewal of a skill where it is due, and nil otherwise. It is not due
// again until containers are discarded again.
func (r *renewals) due(skill string) *renewal {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.all[skill]
	if one == nil || !one.due || one.left == 0 {
		return nil
	}
	one.due = false
	one.left--
	return one
}

// current reports whether the skill had no command since one.
func (r *renewals) current(skill string, one *renewal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[skill] == one
}
