//go:build amd64 || arm64

package native

import (
	"fmt"
	"log/slog"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A host holds the facts about the machine that a driver finds at its first
// run.
type host struct {
	user    identity
	layout  *layout // shared by all runs, not changed
	path    string  // PATH in the sandbox
	program *program
	cgroups *cgroups

	filter   []unix.SockFilter // the seccomp filter
	noShared []unix.SockFilter // the one for a sandbox whose memory no cgroup bounds
	notify   []notifyLimit     // of a user of the host
	tmp      int64             // the limit of the scratch folders that generic makes
	generic  *sequence         // the beginning of every init
}

func newHost(log *slog.Logger) (*host, error) {
	user, err := whoAmI()
	if err != nil {
		return nil, err
	}
	program, err := findProgram(user)
	if err != nil {
		return nil, err
	}
	filter, err := assemble()
	if err != nil {
		return nil, fmt.Errorf("assemble the seccomp filter: %w", err)
	}
	noShared, err := assemble(unix.SYS_SHMGET) // see memoryWatch
	if err != nil {
		return nil, fmt.Errorf("assemble the seccomp filter: %w", err)
	}
	h := &host{
		user:     user,
		layout:   systemLayout(user.uid, user.gid),
		path:     systemPath(),
		program:  program,
		cgroups:  findCgroups(log),
		filter:   filter,
		noShared: noShared,
		notify:   notifyLimits(),
		tmp:      sandbox.DefaultLimits().Tmp,
	}
	h.generic = genericSequence(h.layout, h.tmp, h.notify)
	return h, nil
}
