//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

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
	null    int // an open /dev/null, for the streams of commands that are nothing

	filter    []unix.SockFilter // the seccomp filter
	noShared  []unix.SockFilter // the one for a sandbox whose memory no cgroup bounds
	notify    []notifyLimit     // of a user of the host
	ownLimits map[int]uint64    // the server's own resource limits
	tmp       int64             // the limit of the scratch folders that generic makes
	generic   *sequence         // the beginning of every init
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
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	h := &host{
		user:      user,
		layout:    systemLayout(user.uid, user.gid),
		path:      systemPath(),
		program:   program,
		cgroups:   findCgroups(log),
		null:      null,
		filter:    filter,
		noShared:  noShared,
		notify:    notifyLimits(),
		ownLimits: ownLimits(),
		tmp:       sandbox.DefaultLimits().Tmp,
	}
	h.generic = genericSequence(h.layout, h.tmp, h.notify)
	return h, nil
}

// close releases the host's resources. No sandbox is left.
func (h *host) close() error {
	h.cgroups.close()
	return errors.Join(unix.Close(h.null), h.program.close())
}
