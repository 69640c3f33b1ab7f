package integration

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// TestCommandLine runs the scripts that need no sandbox.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	testscript.Run(t, lab.Params("testdata/cli", "native"))
}

// TestRunning runs the scripts that run skills, with each driver.
func TestRunning(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		testscript.Run(t, lab.Params("testdata/driver", driver))
	})
}
