//go:build !linux || !(amd64 || arm64)

package native

import (
	"context"
	"runtime"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A Driver runs commands in sandboxes of the Linux kernel, which is not the
// kernel here: every run is refused.
type Driver struct{}

// New returns a Driver. Options may be nil.
func New(*Options) *Driver { return &Driver{} }

// Run returns an [*sandbox.UnavailableError].
func (*Driver) Run(context.Context, *sandbox.Command) (*sandbox.Exit, error) {
	return nil, unavailable()
}

// Open returns an [*sandbox.UnavailableError].
func (*Driver) Open(context.Context, *sandbox.Command) (sandbox.Session, error) {
	return nil, unavailable()
}

// Identify returns an [*sandbox.UnavailableError].
func (*Driver) Identify(context.Context, string) (sandbox.Base, error) {
	return sandbox.Base{}, unavailable()
}

// Close does nothing.
func (*Driver) Close() error { return nil }

// Check says that there is no native sandbox on this system.
func (*Driver) Check(context.Context) []sandbox.Finding {
	return []sandbox.Finding{sandbox.FailedBy("sandbox", unavailable())}
}

func unavailable() *sandbox.UnavailableError {
	return &sandbox.UnavailableError{
		Reason: "the native sandbox needs Linux on amd64 or arm64, and this is " + runtime.GOOS + " on " + runtime.GOARCH,
		Remedy: "install Docker or Podman",
	}
}
