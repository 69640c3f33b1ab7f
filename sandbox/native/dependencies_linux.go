//go:build amd64 || arm64

package native

import (
	"fmt"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// checkDependencies refuses a command that depends on packages: there is no
// image here that they could be installed into.
func checkDependencies(cmd *sandbox.Command) error {
	packages := 0
	for _, d := range cmd.Dependencies {
		packages += len(d.Packages)
	}
	if len(cmd.Dependencies) == 0 {
		return nil
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the native sandbox has no images, so it cannot install the packages that the skill declares (%d)", packages),
		Remedy: "use the docker driver, or install them on this machine and set sandbox.dependencies: report",
	}
}
