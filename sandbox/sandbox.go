// Package sandbox runs a command of a stranger's skill in a fresh, locked-down
// sandbox and returns its result. Start with [New], which puts admission, limits and
// output caps around a [Driver].
//
// The environment of a command, with every driver:
//
//   - its skill's folder, read-only, at [SkillDir]; the working directory;
//   - the workspaces it was granted at their own absolute paths, the first also
//     at [WorkspaceDir] where nothing is in its way, read-only unless the grant
//     says otherwise;
//   - the folder [Grant.Data], if there is one, at [DataDir], writable;
//   - [OutDir] and /tmp, writable, in memory, bounded by [Limits.Tmp] each;
//   - /dev/shm, which is memory of the command's own, where it is there;
//   - everything else read-only, no network, no capabilities, no way to gain
//     privileges, a user that is not root, and no environment of the host's.
//
// The package knows nothing of skills or MCP.
package sandbox

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The folders of every sandbox.
const (
	SkillDir     = "/skill"
	WorkspaceDir = "/workspace"
	OutDir       = "/out"
	DataDir      = "/plugin-data"
)

// Nobody is the uid and gid that commands run as where the server itself runs
// as root, or where the host has no such ids.
const Nobody = 65534

// A Driver runs one command in a sandbox of its own.
//
// Run must
//   - call cmd.Started once, when the command begins to run and before any of
//     its output is passed on; not at all when it is known never to have run;
//   - copy the command's output to cmd.Stdout and cmd.Stderr, and not write to
//     either after it returned, other than to end a write that the writer does
//     not take: writers must not block;
//   - when ctx is done, end every process of the sandbox and return within a
//     second with [context.Cause](ctx);
//   - leave nothing behind: on every path the sandbox and all that belongs to it is
//     gone, or is being removed in the background until Close.
//
// Exit is non-nil exactly when the command ended by itself or a driver's own
// limit ended it. The error is an [*UnavailableError] when no sandbox could be
// had, a [*LimitError] when a limit that the driver enforces ended the command,
// and nil when the command ran to its end, whatever its exit code.
//
// Run is called concurrently.
type Driver interface {
	Run(ctx context.Context, cmd *Command) (*Exit, error)
	// Close ends the runs under way, waits until their sandboxes are gone and releases
	// the driver's resources. Run fails afterwards.
	Close() error
}

// A Tenant is the client that a command runs for. Slots are counted for each
// tenant, and tenants take turns at them; sessions belong to all tenants of one
// ID. The zero Tenant is valid.
type Tenant struct {
	// ID names the caller. Several clients may be one caller, such as those with
	// one token: Group and Connection tell them apart.
	ID string
	// Principal names the party behind several IDs, such as the sessions of one person: its
	// tenants take turns as one, and have the slots of one. "" is the ID alone.
	Principal string
	// Group names the clients of a caller that take turns as one.
	Group string
	// Connection names one client of the group.
	Connection string
}

// A Command names a program to run, and its grant. Nobody that it is passed to changes
// it.
type Command struct {
	// RunID names this run in labels and logs: 1 to 64 of [a-z0-9-].
	RunID string
	// Skill is the qualified name of the skill, for labels and logs.
	Skill string
	// Tenant is whom the command runs for.
	Tenant Tenant
	// Argv is the program and its arguments, each passed on byte for byte, or
	// refused: they are valid UTF-8 without NUL, as engines take them in JSON. A
	// program without a slash is looked up in the sandbox's PATH.
	Argv []string
	// Env is the environment, as "KEY=value", on top of that of every sandbox:
	// PATH, HOME (/tmp), TMPDIR (/tmp), LANG (C.UTF-8). Nothing is inherited.
	Env []string
	// Folder is the absolute host folder that is seen at [SkillDir]. It must be
	// readable by others: it is the snapshot of a skill, not the skill itself.
	Folder string
	// Role names the image, for drivers that have images; "" is "default".
	Role string
	// Dependencies are installed before the command runs, one after the other,
	// and kept for the next command that asks for the same.
	Dependencies []Dependencies

	Grant  Grant
	Limits Limits
	// Warm is how many sandboxes like this command's a driver should have ready
	// for the next ones: 0 is one, and a negative number none.
	Warm int

	// Stdin is the command's standard input; nil is empty. Its bytes are
	// passed on at once, so a command may be answered while it runs. A driver may
	// read more of it than the command does.
	Stdin io.Reader
	// Stdout and Stderr get the output as it comes; nil discards it.
	Stdout, Stderr io.Writer
	// Sieve, if not nil, is called once for a filter of stdout, which writes to out the
	// part that is output. It must not block, and is closed when the command has ended.
	Sieve func(out io.Writer) io.WriteCloser
	// Redact, if not nil, replaces values in the output, the files and the connections.
	Redact Redactor
	// Meter, if not nil, pauses the command's use of time and slot while it waits,
	// for at most Waits in all: a sandbox whose server was killed ends by itself
	// after that and Limits.Timeout.
	Meter *Meter
	Waits time.Duration
	// Started is called when the command starts, after whatever had to be
	// fetched or prepared; nil is fine.
	Started func()
	// Proxied is called, where hosts are granted, before the command starts, with a function
	// that returns its connections so far, in the order of their beginning; nil is fine.
	Proxied func(connections func() []Connection)
	// Progress is told, in words for a person, about preparations that take
	// time, such as the pull of an image; nil is fine.
	Progress func(message string)
}

// A Redactor replaces values in texts. Package
// [github.com/skillsmcp/skills-mcp/sandbox/redact] has one.
type Redactor interface {
	String(text string) string
	// Writer returns a writer to w. Close writes what it holds back, and does not close w.
	Writer(w io.Writer) io.WriteCloser
}

// Environ returns the whole environment of the command: the driver's variables, those of
// every sandbox on top, and c.Env on top of both. Each name is there
// once: where one comes twice, programs disagree about which counts.
func (c *Command) Environ(driver ...string) []string {
	at := map[string]int{}
	var all []string
	for _, entry := range slices.Concat(driver, []string{"HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8"}, c.Env) {
		name, _, _ := strings.Cut(entry, "=")
		if i, again := at[name]; again {
			all[i] = entry
			continue
		}
		at[name] = len(all)
		all = append(all, entry)
	}
	return all
}

// A Grant lists the folders and hosts that a command may reach beyond its own sandbox.
// The zero Grant is nothing.
type Grant struct {
	// Workspaces are absolute host folders.
	Workspaces []string
	// Write makes the workspaces writable, but for their [Protected] paths.
	Write bool
	// Unprotected lists the protected paths that are writable, too.
	Unprotected []string
	// Covers are the mounts in writable workspaces that protect them; set by the driver.
	Covers []Cover
	// Data is an absolute host folder of the command's own; "" is none.
	Data string
	// Hosts are those that it may connect to, through a proxy alone, as package
	// [github.com/skillsmcp/skills-mcp/sandbox/egress] writes them, such as
	// "api.example.com:443". None is no network.
	Hosts []string
	// Secrets go into requests to some of Hosts, by the proxy; nil is none.
	Secrets *Secrets
}

// A Cover is a path of a writable workspace that is mounted on itself, so that a command can
// neither rename, remove nor replace it.
type Cover struct {
	Workspace string // the one that it is in, as granted
	Path      string // below the workspace, with slashes
	Write     bool   // what is in it may be changed, but for other covers
}

// Protected returns the paths of workspaces that a person's own programs execute, or take
// settings from that name programs.
func Protected() []string {
	return []string{".git", ".mcp.json", ".claude", ".vscode", ".idea", ".envrc", ".github/workflows", ".skills-mcp.yaml"}
}

// Aliased reports whether the first workspace is also seen at [WorkspaceDir]. It
// is, unless that is on the own path of one.
func (g Grant) Aliased() bool {
	return len(g.Workspaces) > 0 && !slices.ContainsFunc(g.Workspaces, func(w string) bool { return Within(w, WorkspaceDir) })
}

// Around returns the outermost of the other workspaces that a workspace is below, or "".
// A command that may write there can put a symbolic link on the way to it.
func (g Grant) Around(workspace string) string {
	outermost := workspace
	for _, other := range g.Workspaces {
		if Within(outermost, other) {
			outermost = other
		}
	}
	if outermost == workspace {
		return ""
	}
	return outermost
}

// Within reports whether path is folder or below it. Both are absolute. It looks at no
// symbolic link.
func Within(path, folder string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}

// A Warmer is a [Driver] that has sandboxes ready for the next commands of a
// skill.
type Warmer interface {
	Driver
	// Forget discards those that are ready for a skill which has changed or gone.
	Forget(skill string)
	// Renew begins to get one ready again where Forget has discarded some and the skill
	// had no command since. It calls folder then for the new [Command.Folder], and
	// returns its error. It may refuse to do so often.
	Renew(skill string, folder func() (string, error)) error
}

// A SessionDriver is a [Driver] whose sandboxes can serve several commands.
type SessionDriver interface {
	Driver
	// Open opens a sandbox for commands like cmd: its folder, role, grant and
	// limits are theirs. Nothing of cmd is run. The contract of Driver.Run and
	// its errors holds for Open too.
	Open(ctx context.Context, cmd *Command) (Session, error)
}

// A Session is a sandbox whose files, processes and memory outlive a command.
type Session interface {
	// Run runs a command as [Driver].Run does, in this sandbox: its folder, role,
	// grant and limits but Timeout and Output are not heeded, and Exit has no
	// files. Processes that the command leaves behind go on, unless ctx ends the
	// command: then every process in the sandbox is ended. One command runs at a
	// time; others wait. When the sandbox itself has ended, the error is an
	// [*UnavailableError] without a Program.
	Run(ctx context.Context, cmd *Command) (*Exit, error)
	// Close ends the sandbox, and the command that runs in it, and waits until
	// it is gone. It may be called more than once. The driver's Close does it too.
	Close() error
}

// An Exit describes the end of a command.
type Exit struct {
	// Code is the exit code; 128+n when signal n ended the command.
	Code int
	// Sandbox names the kind of sandbox, for people, such as "docker (runc)".
	Sandbox string
	// Out holds the command's files in [OutDir].
	Out Files
	// Connections are those that the command made or tried to make, where it was
	// granted hosts.
	Connections []Connection
}

// A Connection is one that a command made, or was refused.
type Connection struct {
	Host    string        `json:"host"`              // as the command named it, with its port
	Address string        `json:"address,omitempty"` // the IP address and port it went to
	Refused string        `json:"refused,omitempty"` // why it was not made
	Sent    int64         `json:"sent"`              // bytes, by the command
	Got     int64         `json:"got"`               // bytes, by the command
	Time    time.Duration `json:"-"`                 // from its start to its end
}

// A Result describes a command that started.
type Result struct {
	Exit
	// Exited says that Exit is valid. It is not where the command was stopped, such
	// as at its time limit: then there is no exit code.
	Exited         bool
	Stdout, Stderr Output
	// WallTime is how long the command ran, without preparations and waiting.
	WallTime time.Duration
	// Queued is how long it waited for its slot.
	Queued time.Duration
}

// User is the uid and gid that commands run as: those of the person who runs
// the server, so that files in a writable workspace are theirs, and [Nobody]
// where that is root or where the system has no such ids.
func User() (uid, gid int) {
	uid, gid = os.Getuid(), os.Getgid()
	if uid <= 0 || gid <= 0 {
		return Nobody, Nobody
	}
	return uid, gid
}
