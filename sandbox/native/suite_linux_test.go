//go:build amd64 || arm64

package native

import (
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/sandboxtest"
)

func TestSuite(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T) sandbox.Driver {
		newDriver(t) // skips
		return New(nil)
	})
}
