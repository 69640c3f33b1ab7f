//go:build amd64 || arm64

package native

import (
	"errors"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Packages cannot be installed, and are not quietly left out.
func TestDependenciesRefused(t *testing.T) {
	d := New(nil)
	defer d.Close()
	_, err := d.Run(t.Context(), &sandbox.Command{
		Argv:         []string{"true"},
		Dependencies: []sandbox.Dependencies{{Kind: sandbox.Python, Packages: []string{"requests"}}},
		Started:      func() { t.Error("the command ran") },
	})
	var unavailable *sandbox.UnavailableError
	if !errors.As(err, &unavailable) || unavailable.Remedy == "" {
		t.Errorf("error %v", err)
	}
}
