package sandbox

import (
	"context"
	"errors"
	"sync"
)

// Fallback returns a driver that runs commands with first, and with second
// those for which first has no sandbox to offer. It calls warn with the reason
// the first time, and not again. It owns both drivers.
//
// A command that has started is never run again.
func Fallback(first, second Driver, warn func(reason error)) Driver {
	return &fallback{first: first, second: second, warn: warn}
}

type fallback struct {
	first, second Driver
	warn          func(error)
	once          sync.Once
}

func (f *fallback) Run(ctx context.Context, cmd *Command) (*Exit, error) {
	var started bool
	attempt := *cmd
	attempt.Started = func() {
		started = true
		if cmd.Started != nil {
			cmd.Started()
		}
	}
	exit, err := f.first.Run(ctx, &attempt)
	var unavailable *UnavailableError
	if started || !errors.As(err, &unavailable) {
		return exit, err
	}
	attempt.Started = func() {
		f.once.Do(func() { f.warn(err) })
		if cmd.Started != nil {
			cmd.Started()
		}
	}
	exit, second := f.second.Run(ctx, &attempt)
	var also *UnavailableError
	if errors.As(second, &also) {
		return nil, &UnavailableError{
			Reason: unavailable.Reason + ", and " + also.Reason,
			Remedy: unavailable.Remedy + ", or " + also.Remedy,
			Err:    errors.Join(err, second),
		}
	}
	return exit, second
}

func (f *fallback) Close() error {
	return errors.Join(f.first.Close(), f.second.Close())
}
