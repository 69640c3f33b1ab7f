package setup

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/skillsmcp/skills-mcp/sandbox/native"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/plugins"
	"github.com/skillsmcp/skills-mcp/server/plugins/hooks"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/secrets"
	"github.com/skillsmcp/skills-mcp/server/skillshost"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/telemetry"
	"github.com/skillsmcp/skills-mcp/server/verdicts"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

// Sandboxes say how skills are run.
type Sandboxes struct {
	*config.Config
	home       string
	workspaces *Workspaces
	logger     *slog.Logger
	recorder   run.Recorder
	Rules      policy.Options
	host       *skillshost.Host
	servers    *plugins.Book
	state      string // the folder of the store
	secrets    *secrets.Store
	Pins       *pins.Pins // compare skills with their accepted versions; nil accepts all
	Verdicts   *verdicts.Verdicts
	Hooks      *hooks.Hooks
	Telemetry  *telemetry.Telemetry // nil measures nothing
	Single     bool                 // one call is made, so nothing is prepared for others
}

func (s *Sandboxes) Docker() *docker.Driver {
	var dir string
	if cache, err := CacheDir(); err == nil {
		dir = filepath.Join(cache, "docker")
	}
	return docker.New(&docker.Options{
		Dir:       dir,
		Reclaim:   !s.Single,
		Pool:      s.pool(),
		Forwarder: forwarder(),
		Egress:    s.Egress(),
		Guard:     guard(),
		Images:    s.Images,
		Runtime:   s.Sandbox.Runtime,
		Logger:    s.logger,

		DependencyEnv: environ(s.Sandbox.DependencyEnv),
		Places: docker.Places{
			DockerHost: os.Getenv("DOCKER_HOST"),
			Context:    os.Getenv("DOCKER_CONTEXT"),
			ConfigDir:  os.Getenv("DOCKER_CONFIG"),
			Home:       s.home,
			RuntimeDir: os.Getenv("XDG_RUNTIME_DIR"),
		},
	})
}

// guard returns the guard of writable workspaces, nil without a cache folder.
func guard() *protect.Guard {
	cache, err := CacheDir()
	if err != nil {
		return nil
	}
	return protect.New(filepath.Join(cache, "protect"))
}

// pool returns the bounds of waiting containers; the driver's zero value is its
// default, so none is -1.
func (s *Sandboxes) pool() warmpool.Limits {
	pool := warmpool.Limits{Max: s.Sandbox.Pool.Max, Idle: s.Sandbox.Pool.Idle, Taken: s.Telemetry.PoolTaken()}
	if pool.Max == 0 || s.Single {
		pool.Max = -1
	}
	return pool
}

// forwarder returns the path of this program if it can run in a container.
func forwarder() string {
	program, err := os.Executable()
	if err != nil || runtime.GOOS != "linux" {
		return ""
	}
	return program
}

func (s *Sandboxes) Native() *native.Driver {
	options := &native.Options{Reclaim: !s.Single, Logger: s.logger, Egress: s.Egress(), Guard: guard(), Taken: s.Telemetry.PoolTaken()}
	if s.Single {
		options.Warm = -1
	}
	return native.New(options)
}

// newRecorder returns the recorder of runs, which has its file opened at the first one.
func (s *Sandboxes) newRecorder(state *store.Store) *audit.Recorder {
	var secrets []string
	for _, variable := range environ(s.Sandbox.Env) {
		_, value, _ := strings.Cut(variable, "=")
		secrets = append(secrets, value)
	}
	return audit.New(state, &audit.Options{Keep: time.Duration(s.Record.Keep), Max: int64(s.Record.Max), Secrets: secrets, Logger: s.logger})
}

// OpenSnapshots returns the snapshots in the cache folder.
func OpenSnapshots() (*snapshot.Store, error) {
	dir, err := CacheDir()
	if err != nil {
		return nil, err
	}
	return snapshot.New(filepath.Join(dir, "snapshots")), nil
}

// Executor returns an executor of skills. approvals ask the person who runs the
// program whether a skill may run that is not safe.
func (s *Sandboxes) Executor(runner *sandbox.Runner, sessions *session.Manager, snapshots *snapshot.Store, approvals *approval.Approvals) *run.Executor {
	decider := s.Decider(approvals)
	return run.New(runner, snapshots, s.Telemetry.Decider(hostedDecider{decider, s.host}), &run.Options{
		Assigned:   decider.Workspace,
		Sessions:   sessions,
		Workspaces: s.workspaces.Folders, NoWorkspace: s.workspaces.None,
		Barred: func(workspace string) string { return Restricted(workspace, os.Getuid(), false) },
		Servers: plugins.New(runner, s.servers, &plugins.Options{
			Data: filepath.Join(s.state, "plugin-data"), Owner: secrets.Owner, Egress: s.Egress(), Version: build.Read().Version,
		}),
		Hooks:     s.Telemetry.Hooks(s.Hooks),
		Variables: grantable(s.Sandbox.Env),
		Secrets:   ownedSecrets{s.secrets},
		Recorder:  s.Telemetry.Recorder(s.recorder), CheckOutput: result.CheckOutput,
		Standing:   approval.Standing(approvals),
		MaxTimeout: s.Limits().Timeout,
		Asking:     elicit.Limits(s.Sandbox.Asking),

		InstallDependencies: s.Sandbox.Dependencies == config.DependenciesBuild,
	})
}

// Decider returns the policy that decides about calls.
func (s *Sandboxes) Decider(approver policy.Approver) *policy.Policy {
	options := s.Rules
	options.CodeNeedsGrant, options.PersonOnly = !s.Tools.RunCode, s.Tools.PersonOnly
	options.Approver = approver
	options.Scan = func(p *run.Proposal) string {
		found, err := s.Verdicts.At(p.Skill, p.Digest, skillfs.DirFS(p.Folder))
		if err != nil {
			return err.Error() + "."
		}
		return verdict.Summary(found)
	}
	if s.Pins != nil {
		options.Pins = s.Pins
	}
	return policy.New(&options)
}

// exists reports whether a skill exists for a principal.
func (s *Sandboxes) exists(ctx context.Context, who identity.Principal, skill *skills.Skill) bool {
	return s.Decider(nil).Missing(ctx, who, skill) == ""
}

// Description describes how commands are run.
func (s *Sandboxes) Description() describe.Sandbox {
	return describe.Sandbox{
		Driver: s.Sandbox.Driver, Images: s.Images, Limits: s.Limits(),
		Restricted: func(workspace string, write bool) string { return Restricted(workspace, os.Getuid(), write) },
	}
}

// newGate returns a gate that checks the requirements of skills. It knows nothing
// of sandboxes yet, and asks nobody.
func newGate(c *config.Config, boxes *Sandboxes, logger *slog.Logger) *requirements.Checker {
	granted := environ(c.Sandbox.Env)
	options := &requirements.Options{
		Env: func(name string) bool {
			return slices.ContainsFunc(granted, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		},
		Granted: func(skill *skills.Skill, name string) bool {
			_, set := os.LookupEnv(name)
			return policy.Gives(boxes.Decider(nil), skill, name, set)
		},
		HostEnv: func(name string) bool {
			_, set := os.LookupEnv(name)
			return set
		},
		HostHas: func(name string) bool {
			_, err := exec.LookPath(name)
			return err == nil
		},
		Config: c.Provides.Config, Capabilities: c.Provides.Capabilities, Logger: logger,
	}
	if cache, err := CacheDir(); err == nil {
		options.Dir = filepath.Join(cache, "programs")
	}
	return requirements.New(options)
}
