// Package requirements finds out whether skills have what they need where they would
// run, and makes those that have not unavailable, with the reason.
//
// Start with [New]. [Gate.Apply] goes by what is known and asks nobody;
// [Gate.Learn] finds out what the sandboxes have, which may take a run in one.
package requirements

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Options configure a [Gate]. The zero value is usable: then no variable is set,
// and nothing of this machine is known.
type Options struct {
	// Dir is a host folder, made where it is missing, in which the programs of
	// images are kept; "" keeps none.
	Dir string
	// Env reports whether the sandbox's environment has a variable beyond those
	// that every sandbox has. It is not asked for skills of a workspace, which are
	// granted none.
	Env func(name string) bool
	// HostEnv and HostHas report whether this machine's environment has a
	// variable, and its PATH a program, for skills of instructions alone.
	HostEnv, HostHas func(name string) bool
	// Config and Capabilities are what skills have that name them.
	Config, Capabilities []string
	// Logger is told what cannot be found out; nil discards it.
	Logger *slog.Logger
}

// A Gate knows what there is where skills run. It may be used concurrently.
type Gate struct {
	options Options

	mu    sync.Mutex
	roles map[string]*known // what is known of a role's sandboxes

	applying sync.Mutex // one Apply at a time
	last     marked     // under applying
}

// known is what is known of sandboxes. It is not changed.
type known struct {
	base     sandbox.Base
	programs map[string]bool
}

// New returns a gate that knows nothing of sandboxes yet. Options may be nil.
func New(options *Options) *Gate {
	g := &Gate{roles: map[string]*known{}}
	if options != nil {
		g.options = *options
	}
	if g.options.Logger == nil {
		g.options.Logger = slog.New(slog.DiscardHandler)
	}
	return g
}

// Apply returns the catalog in which skills are unavailable that are known to
// lack something. A skill whose sandbox is not known yet is available. A nil gate
// returns the catalog as it is.
func (g *Gate) Apply(catalog *skills.Catalog) *skills.Catalog {
	if g == nil {
		return catalog
	}
	g.applying.Lock()
	defer g.applying.Unlock()
	host := g.host()
	where := func(skill *skills.Skill) place {
		if skill.Entry == nil {
			return g.instructions(skill, host)
		}
		at := g.sandbox(skill.Entry.ImageRole)
		if skill.Workspace != "" {
			at.env, at.envRemedy = everywhere, func([]string) string {
				return "name its folder under skills in the configuration: other skills of a workspace are granted no variables"
			}
		}
		return at
	}
	return g.last.apply(catalog, where)
}

// instructions are followed at host. Those that speak of the skill's own tools
// need no variable there that these find in the sandbox.
func (g *Gate) instructions(skill *skills.Skill, host place) place {
	if len(skill.Tools) == 0 || skill.Workspace != "" || g.options.Env == nil {
		return host
	}
	here := host.env
	host.env = func(name string) bool { return g.options.Env(name) || here != nil && here(name) }
	host.envRemedy = grant
	return host
}

// grant names the setting that gives variables to scripts.
func grant(names []string) string {
	return "set sandbox: {env: [" + strings.Join(names, ", ") + "]} in the configuration, each with =VALUE or for the value that the server has"
}

// export says where instructions find variables.
func export(names []string) string {
	return "set " + strings.Join(names, ", ") + " in the environment that the server is started with, such as env of its entry in the client's configuration"
}

// host returns this machine, where a client follows instructions. A program is
// looked for once: many skills ask for the same few.
func (g *Gate) host() place {
	asked := map[string]bool{}
	at := place{
		os: runtime.GOOS, name: "this machine", programs: "this machine's PATH", remedy: "install it",
		env: g.options.HostEnv, envRemedy: export, config: g.config, capability: g.capability,
	}
	if has := g.options.HostHas; has != nil {
		at.has = func(name string) bool {
			found, known := asked[name]
			if !known {
				found = has(name)
				asked[name] = found
			}
			return found
		}
	}
	return at
}

// sandbox is where scripts run: Linux, whatever this machine is.
func (g *Gate) sandbox(role string) place {
	at := place{os: "linux", name: "the sandbox", env: g.env, envRemedy: grant, config: g.config, capability: g.capability}
	g.mu.Lock()
	defer g.mu.Unlock()
	if k := g.roles[role]; k != nil {
		at.programs, at.remedy = k.base.Name, k.base.Remedy
		at.has = func(name string) bool { return k.programs[name] }
	}
	return at
}

// env reports whether a script finds a variable: those that every sandbox has,
// those of a call, and those that the configuration grants.
func (g *Gate) env(name string) bool {
	return everywhere(name) || g.options.Env != nil && g.options.Env(name)
}

// everywhere reports whether every script finds a variable.
func everywhere(name string) bool {
	switch name {
	case "PATH", "HOME", "TMPDIR", "LANG", "SKILL_NAME", "SKILL_RUN_ID", "SKILL_PARAMS", "SKILL_WORKSPACE":
		return true
	}
	return false
}

func (g *Gate) config(name string) bool { return slices.Contains(g.options.Config, name) }

func (g *Gate) capability(name string) bool { return slices.Contains(g.options.Capabilities, name) }

// Wants returns the roles whose programs the skills of a catalog ask for, sorted.
// Only a skill that runs something does; what nearly every image has is not
// asked for alone.
func Wants(all ...*skills.Skill) []string {
	var roles []string
	for _, s := range all {
		if s.Entry != nil && asks(s) && !slices.Contains(roles, s.Entry.ImageRole) {
			roles = append(roles, s.Entry.ImageRole)
		}
	}
	slices.Sort(roles)
	return roles
}

func asks(s *skills.Skill) bool {
	return len(s.Requires.AnyBins) > 0 || slices.ContainsFunc(s.Requires.Bins, uncommon) ||
		len(s.Entry.Interpreter) > 0 && uncommon(s.Entry.Interpreter[0])
}

func uncommon(program string) bool {
	return program != "sh" && program != "bash" && program != "python3"
}

// Learn finds out what the sandboxes of roles have, and reports whether Apply
// would now come to other results. What has not changed since it was learned is
// not learned again. The error is of those that could not be found out, which
// stay as they were.
func (g *Gate) Learn(ctx context.Context, runner *sandbox.Runner, roles []string) (changed bool, err error) {
	var errs []error
	for _, role := range roles {
		news, err := g.learn(ctx, runner, role)
		changed = changed || news
		errs = append(errs, err)
	}
	return changed, errors.Join(errs...)
}

func (g *Gate) learn(ctx context.Context, runner *sandbox.Runner, role string) (changed bool, err error) {
	base, err := runner.Identify(ctx, role)
	if err != nil {
		return false, err
	}
	g.mu.Lock()
	before := g.roles[role]
	g.mu.Unlock()
	if before != nil && before.base == base {
		return false, nil
	}
	programs, err := g.programs(ctx, runner, role, base)
	if err != nil {
		return false, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.roles[role] = &known{base, programs}
	return true, nil
}
