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
	return exit, both(err, second)
}

// Forget implements [Warmer].
func (f *fallback) Forget(skill string) {
	forget(f.first, skill)
	forget(f.second, skill)
}

// Renew implements [Warmer].
func (f *fallback) Renew(skill string, folder func() (string, error)) error {
	return errors.Join(renew(f.first, skill, folder), renew(f.second, skill, folder))
}

// renew calls Renew of a driver that is a [Warmer].
func renew(driver Driver, skill string, folder func() (string, error)) error {
	if warmer, ok := driver.(Warmer); ok {
		return warmer.Renew(skill, folder)
	}
	return nil
}

// forget calls Forget of a driver that is a [Warmer].
func forget(driver Driver, skill string) {
	if warmer, ok := driver.(Warmer); ok {
		warmer.Forget(skill)
	}
}

// both returns the error of the second driver, with that of the first where neither has
// a sandbox to offer.
func both(first, second error) error {
	var one, two *UnavailableError
	if !errors.As(first, &one) || !errors.As(second, &two) {
		return second
	}
	return &UnavailableError{
		Reason: one.Reason + ", and " + two.Reason,
		Remedy: one.Remedy + ", or " + two.Remedy,
		Err:    errors.Join(first, second),
	}
}

// Open implements [SessionDriver] with the first driver that is one and has a sandbox
// to offer.
func (f *fallback) Open(ctx context.Context, cmd *Command) (Session, error) {
	session, err := openSession(ctx, f.first, cmd)
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) {
		return session, err
	}
	session, second := openSession(ctx, f.second, cmd)
	if second == nil {
		f.once.Do(func() { f.warn(err) })
	}
	return session, both(err, second)
}

// openSession opens a session with a driver that may be no [SessionDriver].
func openSession(ctx context.Context, driver Driver, cmd *Command) (Session, error) {
	if d, ok := driver.(SessionDriver); ok && !cmd.Grant.Write {
		return d.Open(ctx, cmd)
	}
	return nil, &UnavailableError{Reason: "this sandbox driver cannot keep a sandbox between calls", Remedy: "run each call in a sandbox of its own, without container_id"}
}

func (f *fallback) Close() error {
	return errors.Join(f.first.Close(), f.second.Close())
}
