//go:build amd64 || arm64

package native

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Check says what of the native sandbox works here. It runs a command, true, in
// one.
func (d *Driver) Check(ctx context.Context) []sandbox.Finding {
	first := d.checkSandbox(ctx)
	if first.Level == sandbox.LevelFailed {
		return []sandbox.Finding{first}
	}
	return []sandbox.Finding{first, d.checkLimits()}
}

func (d *Driver) checkSandbox(ctx context.Context) sandbox.Finding {
	found := sandbox.Finding{Subject: "sandbox", Level: sandbox.LevelFailed}
	exit, err := d.Run(ctx, &sandbox.Command{RunID: "check", Argv: []string{"true"}, Folder: "/usr", Warm: -1})
	var unavailable *sandbox.UnavailableError
	switch {
	case errors.As(err, &unavailable):
		found.Detail, found.Remedy = unavailable.Reason, unavailable.Remedy
	case err != nil:
		found.Detail = err.Error()
	case exit.Code != 0:
		found.Detail = fmt.Sprintf("a command in it ended with %d", exit.Code)
	default:
		found.Level, found.Detail = sandbox.LevelOK, "namespaces, mounts and the seccomp filter work"
	}
	return found
}

func (d *Driver) checkLimits() sandbox.Finding {
	found := sandbox.Finding{Subject: "cgroup limits", Level: sandbox.LevelWarning}
	p, err := d.learn()
	if err != nil {
		found.Detail = err.Error()
		return found
	}
	controllers := p.host.cgroups.controllers()
	if len(controllers) == len(wantedControllers) {
		found.Level = sandbox.LevelOK
		found.Detail = "memory, processes and processor time of each sandbox are bounded"
		return found
	}
	found.Detail = "of memory, pids and cpu only these can be bounded for a whole sandbox: " + strings.Join(controllers, ", ")
	if len(controllers) == 0 {
		found.Detail = "the server may not make cgroups: a sandbox's memory is watched ten times a second instead, and processor time bounded only by the deadline"
	}
	found.Remedy = "start the server in a cgroup of the user's own, such as with 'systemd-run --user --scope skills-mcp …'"
	return found
}
