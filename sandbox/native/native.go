// Package native runs each command in a sandbox that the Linux kernel gives to
// everybody: no daemon, no image, nothing to install. Start with [New]. The
// program executes itself as a process that makes sandboxes; to import this package
// is enough for that.
//
// A command finds itself in user, mount, pid, network, ipc, uts and cgroup
// namespaces that no other command ever had:
//
//   - The root is a fresh tmpfs, read-only once it is built. It has the host's
//     /usr, /bin, /sbin, /lib*, /opt and /nix/store, and from /etc the files that
//     the dynamic linker and interpreters need, all read-only without setuid or
//     devices. Nothing else of the host is there: an interpreter below a home
//     folder is not seen.
//   - /proc is its own, read-only, with the sensitive parts covered. /dev has
//     null, zero, full, random, urandom, the standard streams and a small shm.
//     There is no /sys.
//   - /tmp, /out and /dev/shm are tmpfs of bounded bytes and files.
//   - The network has a loopback interface and nothing else. Where the command
//     was granted hosts, the server's proxy ([egress]) listens there and nowhere
//     else. A socket file in a granted workspace is reachable: grant folders, not
//     sockets.
//   - It is the person's own user, or nobody where the server is root; it has no
//     capabilities in any set and cannot gain privileges, and its user namespace
//     has power over none of the others; a seccomp filter allows the calls of
//     Docker's default profile, less some; it is in a session
//     without a terminal; nothing is inherited but the three streams. An ordinary
//     user's supplementary groups stay, as only root may drop them.
//   - Memory, processes and processor time are bounded by a cgroup of its own
//     where the server may make one. Where it may not, resource limits replace it:
//     memory is then bounded for each process, not for all of them, and
//     processor time by the deadline only. [Driver.Check] says which it is.
//
// When the command ends, so does every process that it left behind, before the
// run returns; a kept sandbox ([Driver.Open]) is the exception. When the server
// ends, by kill -9 too, so do all sandboxes.
//
// # How it is fast
//
// The first command starts a zygote: this program again, once, in user, mount and
// pid namespaces of its own, with the mounts that all sandboxes have. It forks
// the inits, each process 1 of a sandbox, without executing anything. Some are
// forked ahead ([Options.Warm]); they have made all that does not depend on the
// command and wait for it. An init has no Go runtime: it executes a sequence of
// system calls that the server composes and sends. For a command it attaches the
// skill's folder and the workspaces, drops all privileges, and executes the
// program.
//
// After a command the pool prepares an init for the next one like it: that init has made
// all but the last step when the command comes. It fits only commands with the same
// read-only folders and the same limits, and only while the folders and the mounts there
// are the same.
package native

import (
	"log/slog"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
)

// Options configure a [Driver]. The zero value is usable.
type Options struct {
	// Logger gets messages for an operator, such as that cgroup limits are
	// impossible; nil discards them.
	Logger *slog.Logger
	// Warm is the number of sandboxes that are ready for later commands, from the
	// first command on; 0 is 4, and a negative number none.
	Warm int
	// Taken is called when a command gets a sandbox, with whether one was ready. It must not
	// block; nil is fine.
	Taken func(ready bool)
	// Reclaim removes, in the background from the start, the cgroups of servers that
	// were killed.
	Reclaim bool
	// Egress are the options of the proxies for commands that are granted hosts;
	// nil is the defaults.
	Egress *egress.Options
	// Guard protects writable workspaces; without one, grants of these are refused.
	Guard *protect.Guard
}
