// Package sandboxtest is the suite that every sandbox driver passes: the environment of a
// command, its isolation and limits, and the clean-up after it. Call [Run] from a
// driver's test.
//
// The cases need bash, coreutils and python3 in the sandbox, and nothing else.
package sandboxtest

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Run runs the suite on drivers that newDriver returns, one for each case, so that Close
// is tested as often. The suite closes them.
func Run(t *testing.T, newDriver func(t *testing.T) sandbox.Driver) {
	RunWith(t, newDriver, Traits{})
}

// RunWith runs the suite on a driver with traits.
func RunWith(t *testing.T, newDriver func(t *testing.T) sandbox.Driver, traits Traits) {
	suite{newDriver, traits}.run(t)
}

// run runs all cases.
func (s suite) run(t *testing.T) {
	t.Run("Output", s.output)
	t.Run("ExitCode", s.exitCode)
	t.Run("Arguments", s.arguments)
	t.Run("Stdin", s.stdin)
	t.Run("Dialogue", s.dialogue)
	t.Run("Environment", s.environment)
	t.Run("Secrets", s.secrets)
	t.Run("Filesystem", s.filesystem)
	t.Run("Workspace", s.workspace)
	t.Run("Identity", s.identity)
	t.Run("Network", s.network)
	t.Run("Escape", s.escape)
	t.Run("Fresh", s.fresh)
	t.Run("Out", s.out)
	t.Run("Kept", s.kept)
	t.Run("Limits", s.limits)
	t.Run("Ending", s.ending)
	t.Run("Unavailable", s.unavailable)
	t.Run("Concurrent", s.concurrent)
	t.Run("Attacks", s.attacks)
}
