package watch

import (
	"errors"
	"log/slog"
	"path/filepath"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A notifier sends an event for each entry of an added folder that changes, and
// for the folder itself when it goes. [fsnotify.Watcher] is one.
//
// Paths have no symbolic links left in them. Removing a folder that was not
// added, or that is gone, is harmless, whatever error it returns. WatchList
// returns what is added and still has a watch of its own.
type notifier interface {
	Add(folder string) error
	Remove(folder string) error
	WatchList() []string
	Close() error
}

// maxBatch bounds the paths of one batch; more count as an overflow.
const maxBatch = 8192

// A batch is the set of events since the previous batch.
type batch struct {
	ops      map[string]fsnotify.Op // by clean path: all operations on it
	overflow bool                   // ops is incomplete
}

// intake merges events into batches until events is closed, then closes out and
// returns. It never makes the sender wait, so however long the tree takes, the
// kernel's queue does not fill because of it.
//
// A batch has no order, as the tree does not need one: it reads the current state.
func intake(events <-chan fsnotify.Event, errs <-chan error, out chan<- batch, log *slog.Logger) {
	defer close(out)
	var (
		next  batch
		ready chan<- batch // out while next holds something, else nil
	)
	for {
		select {
		case event, ok := <-events:
			if !ok {
				return
			}
			next.add(event)
			ready = out
		case err, ok := <-errs:
			switch {
			case !ok:
				errs = nil // closed a little before events
			case errors.Is(err, fsnotify.ErrEventOverflow):
				next, ready = batch{overflow: true}, out
			case errors.Is(err, syscall.EINVAL):
				// inotify ended a watch before fsnotify did: nothing is lost.
			default:
				log.Warn("watching files", "err", err)
			}
		case ready <- next:
			next, ready = batch{}, nil
		}
	}
}

func (b *batch) add(event fsnotify.Event) {
	if b.overflow {
		return
	}
	if b.ops == nil {
		b.ops = map[string]fsnotify.Op{}
	}
	b.ops[filepath.Clean(event.Name)] |= event.Op
	if len(b.ops) > maxBatch {
		*b = batch{overflow: true}
	}
}
