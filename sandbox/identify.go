package sandbox

import (
	"context"
	"errors"
	"fmt"
)

// An Identifier is a [Driver] that can identify the content of its sandboxes.
type Identifier interface {
	Driver
	// Identify identifies the content of a role's sandboxes; "" is the default role. It
	// fetches nothing, and starts no sandbox. The error is an [*UnavailableError] when no
	// sandbox of the driver could be had, and another one when the content is not there
	// yet.
	Identify(ctx context.Context, role string) (Base, error)
}

// A Base identifies the content of a role's sandboxes.
type Base struct {
	// ID is another one when the programs in it may be others.
	ID string
	// Name names it for people, such as `image "default"`.
	Name string
	// Remedy tells a person how to add a program that it lacks.
	Remedy string
}

// Identify identifies the content of a role's sandboxes, as [Identifier] does.
func (r *Runner) Identify(ctx context.Context, role string) (Base, error) {
	ctx, leave, err := r.life.Join(ctx)
	if err != nil {
		return Base{}, err
	}
	defer leave()
	return identify(ctx, r.driver, role)
}

// identify asks a driver that may be no [Identifier].
func identify(ctx context.Context, driver Driver, role string) (Base, error) {
	if identifier, ok := driver.(Identifier); ok {
		return identifier.Identify(ctx, role)
	}
	return Base{}, fmt.Errorf("identify the sandboxes of role %q: the driver does not say", role)
}

// Identify asks the driver that would run a command.
func (f *fallback) Identify(ctx context.Context, role string) (Base, error) {
	base, err := identify(ctx, f.first, role)
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) {
		return base, err
	}
	base, second := identify(ctx, f.second, role)
	return base, both(err, second)
}
