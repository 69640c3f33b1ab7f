package docker

import (
	"fmt"
	"os"
	"strings"

	"github.com/docker/docker/api/types/mount"

	"github.com/skillsmcp/skills-mcp/sandbox/docker/seccomp"
)

// Where Podman's compatible service (4.3 was tried) differs from Docker's engine.

func (e *engine) podman() bool { return e.kind == "podman" }

// seccompOption is the security option with our system call filter. Docker takes
// its text, and Podman the name of a file that holds it. Where Podman cannot be
// told, its own default stays, and "" is returned.
func (e *engine) seccompOption() string {
	switch {
	case !e.podman():
		return "seccomp=" + seccomp.Profile()
	case e.profile != "" && !e.apart():
		return "seccomp=" + e.profile
	}
	return ""
}

// checkMounts refuses what Podman would not mount as it is told: it writes mounts
// as text, in which a comma begins the next option, and makes folders that are
// missing.
func (e *engine) checkMounts(mounts []mount.Mount) error {
	if !e.podman() {
		return nil
	}
	for _, m := range mounts {
		if m.Type != mount.TypeBind {
			continue
		}
		if strings.ContainsAny(m.Source+m.Target, ",\"\r\n") {
			return fmt.Errorf("mount workspace %q: Podman cannot mount a folder whose path has a comma, a quote or a line break; rename it, or set sandbox.driver: native", m.Source)
		}
		if _, err := os.Stat(m.Source); err != nil {
			return fmt.Errorf("mount a folder: %w", err)
		}
	}
	return nil
}

// writable are folders that Podman makes writable in a root that is read-only.
func (e *engine) writable() []string {
	if !e.podman() {
		return nil
	}
	return []string{"/run", "/var/tmp"}
}
