package hooks

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Bounds of hooks.
const (
	startTime  = 10 * time.Second
	endTime    = 2 * time.Second  // of those at the end of a session, and of all others then
	maxOutput  = 1 << 20          // bytes
	maxClients = 10_000           // that are remembered
	faultPause = 10 * time.Minute // between two failures of a plugin's hooks that are kept
)

// Faults keeps the failures of hooks.
type Faults interface {
	// Skipped keeps why one of the hooks of a skill was skipped.
	Skipped(ctx context.Context, owner *skills.Skill, why string)
}

// An office keeps what hooks have in common: who was told, what has failed, and the work that
// nobody waits for.
type office struct {
	faults Faults
	logger *slog.Logger
	life   context.Context // of the work
	stop   context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	told   map[identity.Key][]string // names of skills that a client knows to be skipped
	failed map[string]time.Time      // by the name of the skill
}

func newOffice(faults Faults, logger *slog.Logger) *office {
	o := &office{faults: faults, logger: logger, told: map[identity.Key][]string{}, failed: map[string]time.Time{}}
	o.life, o.stop = context.WithCancel(context.Background())
	return o
}

// spawn runs hooks that nobody waits for.
func (o *office) spawn(limit time.Duration, work func(context.Context)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.work.Go(func() {
		ctx, cancel := context.WithTimeout(o.life, limit)
		defer cancel()
		work(ctx)
	})
}

// close waits a moment for the work, and ends it.
func (o *office) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	timer := time.AfterFunc(endTime, o.stop)
	defer timer.Stop()
	o.work.Wait()
	o.stop()
}

// forget forgets a client.
func (o *office) forget(client identity.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.told, client)
}

// tells reports whether a client is to be told that the hooks of a skill are skipped: once.
func (o *office) tells(client identity.Key, owner *skills.Skill) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if slices.Contains(o.told[client], owner.QualifiedName()) {
		return false
	}
	if len(o.told) >= maxClients {
		clear(o.told)
	}
	o.told[client] = append(o.told[client], owner.QualifiedName())
	return true
}

// knows reports whether a client was told that the hooks of a skill are skipped.
func (o *office) knows(client identity.Key, owner *skills.Skill) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.told[client], owner.QualifiedName())
}

// fail logs and keeps why a hook was skipped, once in a while of one plugin's.
func (o *office) fail(ctx context.Context, x *hook, why string) {
	name := x.owner.QualifiedName()
	o.mu.Lock()
	recent := time.Since(o.failed[name]) < faultPause
	if !recent {
		o.failed[name] = time.Now()
	}
	o.mu.Unlock()
	o.logger.Warn("a hook was skipped", "hook", x.skill.QualifiedName(), "event", x.event, "error", why)
	if !recent {
		o.faults.Skipped(context.WithoutCancel(ctx), x.owner, x.event+": "+why)
	}
}
