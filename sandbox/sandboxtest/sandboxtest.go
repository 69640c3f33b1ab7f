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
	runCases(t, suite{newDriver: newDriver, traits: traits}, map[string]func(suite, *testing.T){
		"Output":      suite.output,
		"ExitCode":    suite.exitCode,
		"Arguments":   suite.arguments,
		"Stdin":       suite.stdin,
		"Dialogue":    suite.dialogue,
		"Environment": suite.environment,
		"Secrets":     suite.secrets,
		"Filesystem":  suite.filesystem,
		"Workspace":   suite.workspace,
		"Protected":   suite.protected,
		"Identity":    suite.identity,
		"Network":     suite.network,
		"Escape":      suite.escape,
		"Fresh":       suite.fresh,
		"Out":         suite.out,
		"Kept":        suite.kept,
		"Limits":      suite.limits,
		"Ending":      suite.ending,
		"Unavailable": suite.unavailable,
		"Concurrent":  suite.concurrent,
		"Attacks":     suite.attacks,
	})
}
