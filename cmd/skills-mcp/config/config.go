// Package config reads the configuration file: what users may set beside the
// flags. [Load] finds and decodes it; [Default] is what holds without one.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"
	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/admission"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// A Config is the content of a configuration file, with defaults for what it
// leaves out. Paths are absolute.
type Config struct {
	// File is where the configuration was read from; "" without a file.
	File string `yaml:"-"`

	// Skills and Plugins are extra roots, after the built-in ones.
	Skills  []string `yaml:"skills"`
	Plugins []string `yaml:"plugins"`
	// Roots switches built-in roots.
	Roots Roots `yaml:"roots"`
	// Scan bounds how far each root is read.
	Scan Scan `yaml:"scan"`
	// Workspaces are the folders that skills may see.
	Workspaces []string `yaml:"workspaces"`
	// Images maps image roles to images.
	Images map[string]string `yaml:"images"`
	// Sandbox says how skills are run.
	Sandbox Sandbox `yaml:"sandbox"`
	// Expose says which skills are tools of their own.
	Expose Expose `yaml:"expose"`
	// Serve says how clients reach the server.
	Serve Serve `yaml:"serve"`
	// Tools turns tools on that are off by default.
	Tools Tools `yaml:"tools"`
	// Provides is what skills may rely on, that nobody can find out.
	Provides Provides `yaml:"provides"`
}

// Provides is what skills that name it are said to have.
type Provides struct {
	Config       []string `yaml:"config"`       // settings of the agents that they were made for
	Capabilities []string `yaml:"capabilities"` // such as LinX names them
}

// Tools turns tools on that let a model do more than call skills.
type Tools struct {
	RunCode       bool `yaml:"run_code"`       // run what the model wrote
	KeptSandboxes bool `yaml:"kept_sandboxes"` // share a sandbox between calls
}

// Roots switches the built-in roots on or off.
type Roots struct {
	Session bool `yaml:"session"`
	User    bool `yaml:"user"`
	System  bool `yaml:"system"`
	Samples bool `yaml:"samples"`
}

// Scan bounds how far each root is read, and watched.
type Scan struct {
	Depth     int `yaml:"depth"`     // folders below the root, one in the other
	Manifests int `yaml:"manifests"` // skills, commands and plugins of one root
	Folders   int `yaml:"folders"`   // folders of one root, without those inside of skills
}

// Sandbox says how skills are run.
type Sandbox struct {
	Driver  string `yaml:"driver"`  // auto, docker or native
	Runtime string `yaml:"runtime"` // of the engine; "" is its default
	Limits  Limits `yaml:"limits"`
	Slots   Slots  `yaml:"slots"`
	Pool    Pool   `yaml:"pool"`
	Kept    Kept   `yaml:"kept"`
	Asking  Asking `yaml:"asking"`
	// Dependencies says what is done about packages that a skill declares: report
	// or build.
	Dependencies string `yaml:"dependencies"`
	// DependencyEnv is the environment in which they are installed: "NAME=value",
	// or "NAME" for the value that the server itself has.
	DependencyEnv []string `yaml:"dependency_env"`
	// Env is what skills may be granted of variables: "NAME=value", or "NAME" for
	// the value that the server itself has. Each gets those that it names.
	Env []string `yaml:"env"`
	// Network says what hosts skills may be granted.
	Network Network `yaml:"network"`
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

// Slots bound how many calls run at once, and how many wait.
type Slots struct {
	Total     int `yaml:"total"` // 0 is twice the number of processors
	PerCaller int `yaml:"per_caller"`
	PerSkill  int `yaml:"per_skill"` // 0 is all but one
	Queue     int `yaml:"queue"`
}

// Pool bounds the containers that are kept started and waiting for a call.
type Pool struct {
	Max    int           `yaml:"max"`    // containers; 0 keeps none
	Memory Size          `yaml:"memory"` // that they hold together while they wait
	Idle   time.Duration `yaml:"idle"`   // how long one waits for a call
}

// Kept bounds the sandboxes that are kept between calls.
type Kept struct {
	Total     int           `yaml:"total"`
	PerCaller int           `yaml:"per_caller"`
	Idle      time.Duration `yaml:"idle"`
	Lifetime  time.Duration `yaml:"lifetime"`
}

// Asking bounds the calls that wait for an answer to a question.
type Asking struct {
	Wait      time.Duration `yaml:"wait"` // for one answer
	Total     int           `yaml:"total"`
	PerCaller int           `yaml:"per_caller"`
}

// A Size is a number of bytes, written like 512MB (of 1024 × 1024 bytes).
type Size int64

// UnmarshalYAML reads a number of bytes or text such as "512MB".
func (s *Size) UnmarshalYAML(node *yaml.Node) error {
	bytes, err := units.RAMInBytes(node.Value)
	if err != nil || node.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: %q is not a size; write for example 512MB", node.Line, node.Value)
	}
	*s = Size(bytes)
	return nil
}

// Drivers are the values of sandbox.driver.
func Drivers() []string { return []string{"auto", "docker", "native"} }

// What [Sandbox.Dependencies] may be.
const (
	DependenciesReport = "report" // they are told, and not installed
	DependenciesBuild  = "build"  // they are installed, once
)

// Default returns the configuration that holds without a file.
func Default() *Config {
	limits, slots, kept := sandbox.DefaultLimits(), admission.DefaultSlots(), session.DefaultLimits()
	asking := elicit.DefaultLimits()
	return &Config{
		Roots:  Roots{Session: true, User: true, System: true, Samples: true},
		Scan:   Scan{Depth: scan.DefaultDepth, Manifests: scan.DefaultManifests, Folders: scan.DefaultFolders},
		Images: map[string]string{"default": "python:3.13-slim", "node": "node:22-slim"},
		Sandbox: Sandbox{
			Driver: "auto",
			Limits: Limits{Size(limits.Memory), limits.CPUs, limits.PIDs, limits.Timeout, Size(limits.Output), Size(limits.Tmp)},
			Slots:  Slots{PerCaller: slots.PerTenant, Queue: slots.Queue},
			Pool:   Pool{Max: 8, Memory: 1 << 30, Idle: 5 * time.Minute},
			Kept:   Kept{kept.Total, kept.PerTenant, kept.Idle, kept.Lifetime},
			Asking: Asking{asking.Wait, asking.Total, asking.PerCaller},

			Dependencies: DependenciesReport,
		},
		Serve:  Serve{Transport: "stdio", Listen: DefaultListen},
		Expose: Expose{Mode: string(exposure.Auto), MaxTools: exposure.DefaultTools, CatalogChars: exposure.DefaultChars},
	}
}

// Limits are those of the configuration, for the sandbox.
func (c *Config) Limits() sandbox.Limits {
	l := c.Sandbox.Limits
	return sandbox.Limits{Memory: int64(l.Memory), CPUs: l.CPUs, PIDs: l.PIDs, Timeout: l.Timeout, Output: int64(l.Output), Tmp: int64(l.Tmp)}
}

// Slots returns the slots of the configuration.
func (c *Config) Slots() admission.Slots {
	s := c.Sandbox.Slots
	return admission.Slots{Total: s.Total, PerTenant: s.PerCaller, PerSkill: s.PerSkill, Queue: s.Queue}
}

// Sessions returns the limits of sandboxes kept between calls.
func (c *Config) Sessions() session.Limits {
	k := c.Sandbox.Kept
	return session.Limits{Total: k.Total, PerTenant: k.PerCaller, Idle: k.Idle, Lifetime: k.Lifetime}
}

// Asking bounds the calls that wait for an answer.
func (c *Config) Asking() elicit.Limits {
	a := c.Sandbox.Asking
	return elicit.Limits{Wait: a.Wait, Total: a.Total, PerCaller: a.PerCaller}
}

// Load reads the first of the files that exists; with none of them it returns
// [Default]. home is what ~ stands for.
func Load(files []string, home string) (*Config, error) {
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		return Parse(data, file, home)
	}
	return Default(), nil
}

// Parse decodes the content of a configuration file. Unknown keys are errors,
// and so are values that nothing could be run with.
func Parse(data []byte, file, home string) (*Config, error) {
	c := Default()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, explain(err))
	}
	c.File = file
	// A file that names one image keeps the others.
	for role, image := range Default().Images {
		if _, set := c.Images[role]; !set {
			c.set(role, image)
		}
	}
	if c.Serve.TokenFile != "" {
		c.Serve.TokenFile = absolute(c.Serve.TokenFile, filepath.Dir(file), home)
	}
	for _, paths := range [][]string{c.Skills, c.Plugins, c.Workspaces} {
		for i, path := range paths {
			paths[i] = absolute(path, filepath.Dir(file), home)
		}
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

func (c *Config) set(role, image string) {
	if c.Images == nil {
		c.Images = map[string]string{}
	}
	c.Images[role] = image
}

// absolute resolves a path of the file: ~ is home, and relative paths start
// from the file's folder.
func absolute(path, folder, home string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// environmentEntry is a name, perhaps with a value.
var environmentEntry = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(=[^\x00]*)?$`)

func (c *Config) validate() error {
	s := c.Sandbox
	if !slices.Contains(Drivers(), s.Driver) {
		return fmt.Errorf("sandbox.driver is %q; write one of %s", s.Driver, strings.Join(Drivers(), ", "))
	}
	if s.Dependencies != DependenciesReport && s.Dependencies != DependenciesBuild {
		return fmt.Errorf("sandbox.dependencies is %q; write one of %s, %s", s.Dependencies, DependenciesReport, DependenciesBuild)
	}
	for _, env := range []struct {
		key     string
		entries []string
	}{{"sandbox.dependency_env", s.DependencyEnv}, {"sandbox.env", s.Env}} {
		for _, entry := range env.entries {
			if !environmentEntry.MatchString(entry) {
				return fmt.Errorf("%s has %q; write NAME or NAME=value", env.key, entry)
			}
		}
	}
	if err := c.Expose.validate(); err != nil {
		return err
	}
	if err := c.Serve.Validate(); err != nil {
		return err
	}
	for role, image := range c.Images {
		if image == "" {
			return fmt.Errorf("images.%s is empty; name an image", role)
		}
	}
	return c.validateMinimums()
}

// validateMinimums checks the numbers that have one.
func (c *Config) validateMinimums() error {
	s := c.Sandbox
	for _, v := range []struct {
		key string
		ok  bool
		min string
	}{
		{"scan.depth", c.Scan.Depth >= 1, "1"},
		{"scan.manifests", c.Scan.Manifests >= 1, "1"},
		{"scan.folders", c.Scan.Folders >= 1, "1"},
		{"sandbox.limits.memory", s.Limits.Memory >= 16<<20, "16MB"},
		{"sandbox.limits.cpus", s.Limits.CPUs >= 0.01, "0.01"},
		{"sandbox.limits.pids", s.Limits.PIDs >= 8, "8"},
		{"sandbox.limits.timeout", s.Limits.Timeout >= time.Second, "1s"},
		{"sandbox.limits.output", s.Limits.Output >= 1<<10, "1KB"},
		{"sandbox.limits.tmp", s.Limits.Tmp >= 1<<20, "1MB"},
		{"sandbox.slots.total", s.Slots.Total >= 0, "1, or 0 for twice the number of processors"},
		{"sandbox.slots.per_caller", s.Slots.PerCaller >= 1, "1"},
		{"sandbox.slots.per_skill", s.Slots.PerSkill >= 0, "1, or 0 for all slots but one"},
		{"sandbox.slots.queue", s.Slots.Queue >= 1, "1"},
		{"sandbox.pool.max", s.Pool.Max >= 0, "1, or 0 for no pool"},
		{"sandbox.pool.memory", s.Pool.Memory >= 16<<20, "16MB"},
		{"sandbox.pool.idle", s.Pool.Idle >= time.Second, "1s"},
		{"sandbox.kept.total", s.Kept.Total >= 1, "1"},
		{"sandbox.kept.per_caller", s.Kept.PerCaller >= 1, "1"},
		{"sandbox.kept.idle", s.Kept.Idle >= time.Second, "1s"},
		{"sandbox.kept.lifetime", s.Kept.Lifetime >= time.Second, "1s"},
		{"sandbox.asking.wait", s.Asking.Wait >= time.Second, "1s"},
		{"sandbox.asking.total", s.Asking.Total >= 1, "1"},
		{"sandbox.asking.per_caller", s.Asking.PerCaller >= 1, "1"},
		{"expose.max_tools", c.Expose.MaxTools >= 1, "1"},
		{"expose.catalog_chars", c.Expose.CatalogChars >= 1000, "1000"},
	} {
		if !v.ok {
			return fmt.Errorf("%s is too small; write at least %s", v.key, v.min)
		}
	}
	return nil
}
