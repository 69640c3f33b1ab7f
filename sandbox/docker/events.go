package docker

import (
	"context"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
)

// What the engine says of a container that did not end by itself.
const (
	eventOOM  = string(events.ActionOOM)
	eventKill = string(events.ActionKill)
)

// eventDelay is how long after a container's end the engine may still be
// writing down why.
const eventDelay = 100 * time.Millisecond

// whatEnded returns the engine's event that explains why a container ended with
// code, or "". A signal looks the same from the code alone whether the command
// sent it to itself, the kernel ran out of memory, or the engine is stopping.
func (b *box) whatEnded(ctx context.Context, code int, state *container.State) string {
	const killed, terminated = 128 + 9, 128 + 15
	if code != killed && code != terminated || state == nil {
		return ""
	}
	finished, err := time.Parse(time.RFC3339Nano, state.FinishedAt)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 10*eventDelay)
	defer cancel()
	// Both times are of the engine's clock, which may not be ours.
	messages, ended := b.engine.api.Events(ctx, events.ListOptions{
		Since:   state.StartedAt,
		Until:   finished.Add(eventDelay).Format(time.RFC3339Nano),
		Filters: filters.NewArgs(filters.Arg("container", b.id), filters.Arg("event", eventOOM), filters.Arg("event", eventKill)),
	})
	select {
	case message := <-messages:
		return string(message.Action)
	case <-ended: // the stream, or the time
		return ""
	}
}
