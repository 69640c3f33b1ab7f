package docker

import (
	"context"
	"sync"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
)

// images caches an engine's descriptions of images, as long as the engine reports
// changes: a call need not ask it again.
type images struct {
	mu      sync.Mutex
	engine  *engine           // the one that would tell; nil when none would
	changes int               // how many there were
	known   map[string]*image // by reference
}

// get returns the cached image, or the result of ask.
func (i *images) get(e *engine, role, ref string, ask func() (*image, error)) (*image, error) {
	i.mu.Lock()
	told, changes := i.engine == e, i.changes
	if found := i.known[ref]; told && found != nil {
		i.mu.Unlock()
		known := *found
		known.role = role
		return &known, nil
	}
	i.mu.Unlock()

	found, err := ask()
	if err != nil || !told {
		return found, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.engine == e && i.changes == changes { // else it may be old already
		i.known[ref] = found
	}
	return found, nil
}

// trust says whether e tells of changes from now on; nil is no engine.
func (i *images) trust(e *engine) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.engine, i.known = e, map[string]*image{}
	i.changes++
}

// distrust forgets e, unless another engine has come.
func (i *images) distrust(e *engine) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.engine == e {
		i.engine, i.known = nil, nil
		i.changes++
	}
}

// watch has e tell of changes until ctx is done or e is gone. No call waits until it
// does.
func (i *images) watch(ctx context.Context, e *engine) {
	messages, ended := e.api.Events(ctx, events.ListOptions{
		Filters: filters.NewArgs(filters.Arg("type", string(events.ImageEventType))),
	})
	i.trust(e)
	defer i.distrust(e)
	for {
		select {
		case <-messages:
			i.trust(e)
		case <-ended:
			return
		}
	}
}
