// Package requirements marks skills unavailable that lack a requirement in the
// environment in which they would run, with the reason.
//
// Start with [New]. [Checker.Apply] uses the inventories at hand;
// [Checker.Inspect] makes those of sandboxes, which may take a run in one.
package requirements

import (
	"cmp"
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

// Options configure a [Checker]. The zero value is usable: then no variable is set,
// and the programs and variables of this machine are unknown.
type Options struct {
	// Dir is a host folder, created if missing, with the cache of images' programs;
	// "" disables it.
	Dir string
	// Env reports whether the sandbox's environment has a variable beyond those
	// that every sandbox has. It is not asked for skills of a workspace, which are
	// granted none.
	Env func(name string) bool
	// Granted reports whether a skill is granted a secret in a variable; nil grants none.
	Granted func(skill *skills.Skill, name string) bool
	// HostEnv and HostHas report whether this machine's environment has a
	// variable, and its PATH a program, for skills of instructions alone.
	HostEnv, HostHas func(name string) bool
	// Config and Capabilities are the names that satisfy requirements of these kinds.
	Config, Capabilities []string
	// Logger gets errors of the cache; nil discards them.
	Logger *slog.Logger
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// A Checker compares the requirements of skills with the environments in which they
// run. It may be used concurrently.
type Checker struct {
	options  Options
	programs *programLister

	mu    sync.Mutex            // guards roles
	roles map[string]*inventory // by image role

	applying sync.Mutex // one Apply at a time
	last     marked     // under applying
}

// inventory is the set of programs in a role's sandboxes. It is immutable.
type inventory struct {
	base     sandbox.Base
	programs []string // sorted
}

// New returns a checker without inventories of sandboxes. Options may be nil.
func New(options *Options) *Checker {
	o := options.withDefaults()
	return &Checker{options: o, programs: &programLister{o.Dir, o.Logger}, roles: map[string]*inventory{}}
}

// Apply returns the catalog with the skills marked unavailable that lack a
// requirement. A skill whose sandbox is not inspected yet is available. A nil checker
// returns the catalog as it is.
func (c *Checker) Apply(catalog *skills.Catalog) *skills.Catalog {
	if c == nil {
		return catalog
	}
	c.applying.Lock()
	defer c.applying.Unlock()
	host := c.host()
	where := func(skill *skills.Skill) environment {
		if skill.Entry == nil {
			return c.instructions(skill, host)
		}
		at := c.sandbox(skill.Entry.ImageRole)
		at.env = func(name string) bool { return c.Has(skill, name) }
		if skill.Untrusted() {
			at.env, at.envRemedy = everywhere, func([]string) string {
				return "it is of the workspace " + skill.Workspace + ", which the person does not trust, and whose skills are granted no variables"
			}
		}
		return at
	}
	return c.last.apply(catalog, where)
}

// instructions returns the environment in which a client follows instructions: host. The
// variables of the skill's tools are in their sandbox.
func (c *Checker) instructions(skill *skills.Skill, host environment) environment {
	if len(skill.Tools) == 0 || skill.Untrusted() {
		return host
	}
	here := host.env
	host.env = func(name string) bool {
		return here != nil && here(name) || slices.ContainsFunc(skill.Tools, func(tool *skills.Skill) bool { return c.Has(tool, name) })
	}
	host.envRemedy = grant
	return host
}

// grant returns the remedy for variables of scripts.
func grant(names []string) string {
	secret := ""
	if slices.ContainsFunc(names, skills.IsCredential) {
		secret = "for a secret, skills-mcp secret set NAME and then skills-mcp secret grant SKILL NAME --host HOST; else "
	}
	return secret + "set sandbox: {env: [" + strings.Join(names, ", ") + "]} in the configuration, each with =VALUE or for the value that the server has"
}

// export returns the remedy for variables of instructions.
func export(names []string) string {
	return "set " + strings.Join(names, ", ") + " in the environment that the server is started with, such as env of its entry in the client's configuration"
}

// host returns this machine. It looks up a program once: many skills require the same
// few.
func (c *Checker) host() environment {
	asked := map[string]bool{}
	at := environment{
		os: runtime.GOOS, name: "this machine", programs: "this machine's PATH", remedy: "install it",
		env: c.options.HostEnv, envRemedy: export, config: c.options.Config, capabilities: c.options.Capabilities,
	}
	if has := c.options.HostHas; has != nil {
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

// sandbox returns the environment of scripts: Linux, on any machine.
func (c *Checker) sandbox(role string) environment {
	at := environment{os: "linux", name: "the sandbox", envRemedy: grant, config: c.options.Config, capabilities: c.options.Capabilities}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.roles[role]; k != nil {
		at.programs, at.remedy = k.base.Name, k.base.Remedy
		at.has = func(name string) bool {
			_, found := slices.BinarySearch(k.programs, name)
			return found
		}
	}
	return at
}

// Has reports whether the script of a skill has a variable: one of every sandbox, of a call,
// of the configuration, or of a grant.
func (c *Checker) Has(skill *skills.Skill, name string) bool {
	return everywhere(name) || c.options.Env != nil && c.options.Env(name) || c.options.Granted != nil && c.options.Granted(skill, name)
}

// everywhere reports whether every script has a variable.
func everywhere(name string) bool {
	switch name {
	case "PATH", "HOME", "TMPDIR", "LANG", "SKILL_NAME", "SKILL_RUN_ID", "SKILL_PARAMS", "SKILL_WORKSPACE":
		return true
	}
	return false
}

// Wants returns the roles whose programs the skills of a catalog require, sorted.
// Only executable skills count; sh, bash and python3, which nearly every image has, do
// not count alone.
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

// Inspect makes the inventories of the sandboxes of roles, and reports whether one
// changed. It skips a role whose image is the same as before. The error is that of the
// roles that could not be inspected, whose inventories stay.
func (c *Checker) Inspect(ctx context.Context, runner *sandbox.Runner, roles []string) (changed bool, err error) {
	var errs []error
	for _, role := range roles {
		news, err := c.inspect(ctx, runner, role)
		changed = changed || news
		errs = append(errs, err)
	}
	return changed, errors.Join(errs...)
}

func (c *Checker) inspect(ctx context.Context, runner *sandbox.Runner, role string) (changed bool, err error) {
	base, err := runner.Identify(ctx, role)
	if err != nil {
		return false, err
	}
	c.mu.Lock()
	before := c.roles[role]
	c.mu.Unlock()
	if before != nil && before.base == base {
		return false, nil
	}
	programs, err := c.programs.of(ctx, runner, role, base)
	if err != nil {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.roles[role] = &inventory{base, programs}
	return true, nil
}
