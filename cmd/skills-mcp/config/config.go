// Package config reads the configuration file, which holds the settings beside the
// flags.
//
// Start with [Load]; [Default] returns the configuration without a file.
package config

import (
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/admission"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills/install/clawhub"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

// A Config is the content of a configuration file, with defaults for missing keys.
// Paths are absolute.
type Config struct {
	// File is the path of the configuration file; "" without one.
	File string `yaml:"-"`
	// read is as the file says, without flags; nil without a file.
	read *Config

	// Skills are extra roots, after the built-in ones.
	Skills []string `yaml:"skills"`
	// Plugins are extra roots of plugins, and what the code of plugins is given.
	Plugins Plugins `yaml:"plugins"`
	// Roots switches built-in roots.
	Roots Roots `yaml:"roots"`
	// Scan bounds how far each root is read, and says which findings block a skill.
	Scan Scan `yaml:"scan"`
	// Workspaces are the folders that skills may see.
	Workspaces []string `yaml:"workspaces"`
	// Images maps image roles to images.
	Images map[string]string `yaml:"images"`
	// Sandbox configures how skills are run.
	Sandbox Sandbox `yaml:"sandbox"`
	// Expose selects the skills that are tools of their own.
	Expose Expose `yaml:"expose"`
	// Policy decides which skills may run, what they get, and who confirms it.
	Policy Policy `yaml:"policy"`
	// Serve configures how clients reach the server.
	Serve Serve `yaml:"serve"`
	// Notify is the command that is run when a question begins to wait for the person's
	// answer, with the question as its last argument.
	Notify Words `yaml:"notify"`
	// Tools turns on tools that are off by default.
	Tools Tools `yaml:"tools"`
	// Install configures how skills are installed from elsewhere.
	Install Install `yaml:"install"`
	// Record bounds the record of runs.
	Record Record `yaml:"record"`
	// Store is the address of a PostgreSQL database, or the path of a file that has it; "" is
	// a file in the folder for state.
	Store string `yaml:"store"`
	// Provides declares features that cannot be detected.
	Provides Provides `yaml:"provides"`
	// Agents configures the sessions of agents.
	Agents Agents `yaml:"agents"`
	// Telemetry sends measures and traces.
	Telemetry Telemetry `yaml:"telemetry"`
}

// Record bounds the record of runs: older rows are deleted.
type Record struct {
	Keep Age  `yaml:"keep"`
	Max  Size `yaml:"max"` // of the file with the record
}

// Provides lists features that skills may require and that cannot be detected.
type Provides struct {
	Config       []string `yaml:"config"`       // settings of the agents that they were made for
	Capabilities []string `yaml:"capabilities"` // such as LinX names them
}

// Tools turns tools on that let a model do more than call skills.
type Tools struct {
	RunCode       bool `yaml:"run_code"`       // run code that the model wrote
	KeptSandboxes bool `yaml:"kept_sandboxes"` // share a sandbox between calls
	MatchSkills   bool `yaml:"match_skills"`   // list the tool that returns skills for a message
	InstallSkill  bool `yaml:"install_skill"`  // ask the person to install a skill
	PersonOnly    bool `yaml:"person_only"`    // call the skills that only a person may call, for tests
}

// Roots switches the built-in roots on or off.
type Roots struct {
	Session bool `yaml:"session"`
	User    bool `yaml:"user"`
	System  bool `yaml:"system"`
	Samples bool `yaml:"samples"`

	// The folders of other clients, among those of Session and User.
	Copilot bool `yaml:"copilot"` // .github/skills and ~/.copilot/skills
	Gemini  bool `yaml:"gemini"`  // .gemini/skills, also in the home folder
	Codex   bool `yaml:"codex"`   // ~/.codex/skills
}

// Scan bounds how far each root is read, and watched.
type Scan struct {
	Depth     int `yaml:"depth"`     // nested folders below the root
	Manifests int `yaml:"manifests"` // skills, commands and plugins of one root
	Folders   int `yaml:"folders"`   // folders of one root, without those inside of skills
	// Strict leaves out each SKILL.md without a description and the name that the Agent
	// Skills standard wants.
	Strict bool `yaml:"strict"`
	// Block is the severity from which on a finding in its files blocks a skill: critical,
	// warning or never.
	Block string `yaml:"block"`
	// Poll is the interval of looks for changes that the system does not report.
	Poll time.Duration `yaml:"poll"`
}

// Blocks returns the severity that blocks a skill; "" is none.
func (s Scan) Blocks() verdict.Severity {
	if s.Block == "never" {
		return ""
	}
	return verdict.Severity(s.Block)
}

// Sandbox configures how skills are run.
type Sandbox struct {
	Driver  string `yaml:"driver"`  // one of [Drivers]
	Runtime string `yaml:"runtime"` // of the engine; "" is its default
	Limits  Limits `yaml:"limits"`
	Slots   Slots  `yaml:"slots"`
	Pool    Pool   `yaml:"pool"`
	Kept    Kept   `yaml:"kept"`
	Asking  Asking `yaml:"asking"`
	// Dependencies selects the handling of packages that a skill declares:
	// [DependenciesReport] or [DependenciesBuild].
	Dependencies string `yaml:"dependencies"`
	// DependencyEnv is the environment in which they are installed: "NAME=value",
	// or "NAME" for the value that the server itself has.
	DependencyEnv []string `yaml:"dependency_env"`
	// Env lists the variables that skills may be granted: "NAME=value", or "NAME"
	// for the value that the server itself has. Each skill gets those that it names.
	Env []string `yaml:"env"`
	// Network lists the hosts that skills may be granted.
	Network Network `yaml:"network"`
	// Kubernetes configures the driver of that name.
	Kubernetes Kubernetes `yaml:"kubernetes"`
}

// Network lists the hosts that skills may be granted. Each skill gets those of them
// that it declares.
type Network struct {
	// Allow are hosts; none is no network for any skill.
	Allow []Host `yaml:"allow"`
	// Private are networks that are not public, of which Allow may name addresses.
	Private []Prefix `yaml:"private"`
}

// Limits bound each call.
type Limits struct {
	Memory  Size          `yaml:"memory"`
	CPUs    float64       `yaml:"cpus"`
	PIDs    int64         `yaml:"pids"`
	Timeout time.Duration `yaml:"timeout"`
	Output  Size          `yaml:"output"`
	Tmp     Size          `yaml:"tmp"`
}

// Slots bound how many calls run at once, and how many wait. They convert to
// [admission.Slots].
type Slots struct {
	Total     int `yaml:"total"` // 0 is twice the number of processors
	PerTenant int `yaml:"per_caller"`
	PerSkill  int `yaml:"per_skill"` // 0 is all but one
	Queue     int `yaml:"queue"`
}

// Pool bounds the started containers that wait for a call.
type Pool struct {
	Max  int           `yaml:"max"`  // containers; 0 keeps none
	Idle time.Duration `yaml:"idle"` // how long one waits for a call
}

// Kept bounds the sandboxes that live between calls. It converts to [session.Limits].
type Kept struct {
	PerTenant int           `yaml:"per_caller"`
	Total     int           `yaml:"total"`
	Idle      time.Duration `yaml:"idle"`
	Lifetime  time.Duration `yaml:"lifetime"`
}

// Asking bounds the calls that wait for an answer to a question. It converts to
// [elicit.Limits].
type Asking struct {
	Wait      time.Duration `yaml:"wait"` // for one answer
	Total     int           `yaml:"total"`
	PerCaller int           `yaml:"per_caller"`
}

// Drivers returns the values of sandbox.driver.
func Drivers() []string { return []string{"auto", "docker", "native", "kubernetes"} }

// The values of [Sandbox.Dependencies].
const (
	DependenciesReport = "report" // report them, and do not install them
	DependenciesBuild  = "build"  // install them, once
)

// Default returns the configuration without a file.
func Default() *Config {
	limits, slots := sandbox.DefaultLimits(), admission.DefaultSlots()
	return &Config{
		Plugins: Plugins{Enabled: []string{"*"}},
		Roots:   Roots{Session: true, User: true, System: true, Samples: true, Copilot: true, Gemini: true, Codex: true},
		Scan:    Scan{Depth: scan.DefaultDepth, Manifests: scan.DefaultManifests, Folders: scan.DefaultFolders, Block: "never"},
		Images:  map[string]string{"default": "python:3.13-slim", "node": "node:22-slim"},
		Sandbox: Sandbox{
			Driver: "auto",
			Limits: Limits{Size(limits.Memory), limits.CPUs, limits.PIDs, limits.Timeout, Size(limits.Output), Size(limits.Tmp)},
			Slots:  Slots{Total: slots.Total, PerTenant: slots.PerTenant, Queue: slots.Queue},
			Pool:   Pool{Max: 8, Idle: 5 * time.Minute},
			Kept:   Kept(session.DefaultLimits()),
			Asking: Asking(elicit.DefaultLimits()),

			Dependencies: DependenciesReport,
			Kubernetes:   Kubernetes{UserNamespaces: "auto", StartRate: 5, Network: "closed"},
		},
		Policy:    Policy{Mode: string(policy.Confirm), Forms: Forms(approval.FormsOnce), Expiry: Expiry(approval.DefaultExpiry())},
		Install:   Install{ClawHub: clawhub.DefaultRegistry, Limits: InstallLimits{Files: 20_000, File: 64 << 20, Total: 256 << 20, Depth: 32}, Refresh: 5 * time.Minute},
		Record:    Record{Keep: Age(audit.DefaultKeep), Max: audit.DefaultMax},
		Serve:     Serve{Transport: "stdio", Listen: DefaultListen, Drain: 30 * time.Second, Name: "skills-mcp", Title: "Skills"},
		Agents:    Agents{Depth: 2, MaxChildren: 5, Timeout: 5 * time.Minute, Keep: time.Hour, SkillsPerTurn: 2, Budget: agents.Budget{Turns: 50, Tokens: 1_000_000}},
		Telemetry: Telemetry{Traces: Traces{Sample: 0.1}},
		Expose:    Expose{Mode: string(exposure.Auto), MaxTools: exposure.DefaultTools, CatalogChars: exposure.DefaultChars},
	}
}

// Limits returns the limits of one call.
func (c *Config) Limits() sandbox.Limits {
	l := c.Sandbox.Limits
	return sandbox.Limits{Memory: int64(l.Memory), CPUs: l.CPUs, PIDs: l.PIDs, Timeout: l.Timeout, Output: int64(l.Output), Tmp: int64(l.Tmp)}
}

// Hosts returns the rules of the hosts that skills may be granted.
func (c *Config) Hosts() []egress.Rule {
	var rules []egress.Rule
	for _, host := range c.Sandbox.Network.Allow {
		rules = append(rules, host.Rule)
	}
	return rules
}

// Egress returns the drivers' options for network access.
func (c *Config) Egress() *egress.Options {
	options := &egress.Options{}
	for _, p := range c.Sandbox.Network.Private {
		options.Private = append(options.Private, p.Prefix)
	}
	return options
}

// Exposure returns the options of package exposure.
func (c *Config) Exposure() exposure.Options {
	e, chars := c.Expose, c.Expose.CatalogChars
	if len(c.Agents.Models) > 0 {
		chars = max(chars-exposure.SubagentChars, 1)
	}
	return exposure.Options{Mode: exposure.Mode(e.Mode), As: e.As, MaxTools: e.MaxTools, Chars: chars, Pin: e.Pin}
}
