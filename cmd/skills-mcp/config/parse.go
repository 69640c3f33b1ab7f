package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Load reads the first of the files that exists; without any it returns [Default].
// ~ expands to home.
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

// Parse decodes and validates the content of a configuration file. Unknown keys
// and invalid values are errors.
func Parse(data []byte, file, home string) (*Config, error) {
	c := Default()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, explain(err, reflect.TypeFor[Config]()))
	}
	c.File = file
	// A file that names one image keeps the others.
	for role, image := range Default().Images {
		if _, set := c.Images[role]; !set {
			c.set(role, image)
		}
	}
	for _, path := range []*string{&c.Serve.TokenFile, &c.Serve.TLS.Cert, &c.Serve.TLS.Key, &c.Sandbox.Kubernetes.Kubeconfig} {
		if *path != "" {
			*path = absolute(*path, filepath.Dir(file), home)
		}
	}
	if c.Store != "" && !IsDatabase(c.Store) {
		c.Store = absolute(c.Store, filepath.Dir(file), home)
	}
	for _, paths := range [][]string{c.Skills, c.Plugins.Dirs, c.Workspaces} {
		for i, path := range paths {
			paths[i] = absolute(path, filepath.Dir(file), home)
		}
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	read := *c
	c.read = &read
	return c, nil
}

func (c *Config) set(role, image string) {
	if c.Images == nil {
		c.Images = map[string]string{}
	}
	c.Images[role] = image
}

// IsDatabase reports whether a text is the address of a PostgreSQL database.
func IsDatabase(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// absolute resolves a path of the file: ~ expands to home, and relative paths start
// at the file's folder.
func absolute(path, folder, home string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

func (c *Config) validate() error {
	s := c.Sandbox
	if !slices.Contains(Drivers(), s.Driver) {
		return fmt.Errorf("sandbox.driver is %q; write one of %s", s.Driver, strings.Join(Drivers(), ", "))
	}
	if !slices.Contains([]string{"critical", "warning", "never"}, c.Scan.Block) {
		return fmt.Errorf("scan.block is %q; write one of critical, warning, never", c.Scan.Block)
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
	if err := s.Kubernetes.validate(); err != nil {
		return err
	}
	if err := c.Expose.validate(); err != nil {
		return err
	}
	if err := c.Policy.validate(); err != nil {
		return err
	}
	if err := c.Policy.validateConsent(); err != nil {
		return err
	}
	if err := c.Install.validate(); err != nil {
		return err
	}
	if err := c.Serve.Validate(); err != nil {
		return err
	}
	if err := c.Agents.validate(); err != nil {
		return err
	}
	if err := c.Telemetry.validate(); err != nil {
		return err
	}
	for role, image := range c.Images {
		if image == "" {
			return fmt.Errorf("images.%s is empty; name an image", role)
		}
	}
	return c.validateMinimums()
}

// validateMinimums checks the numbers that have a minimum.
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
		{"scan.poll", c.Scan.Poll == 0 || c.Scan.Poll >= time.Second, "1s, or 0 for none"},
		{"sandbox.limits.memory", s.Limits.Memory >= 16<<20, "16MB"},
		{"sandbox.limits.cpus", s.Limits.CPUs >= 0.01, "0.01"},
		{"sandbox.limits.pids", s.Limits.PIDs >= 8, "8"},
		{"sandbox.limits.timeout", s.Limits.Timeout >= time.Second, "1s"},
		{"sandbox.limits.output", s.Limits.Output >= 1<<10, "1KB"},
		{"sandbox.limits.tmp", s.Limits.Tmp >= 1<<20, "1MB"},
		{"sandbox.slots.total", s.Slots.Total >= 0, "1, or 0 for twice the number of processors"},
		{"sandbox.slots.per_caller", s.Slots.PerTenant >= 1, "1"},
		{"sandbox.slots.per_skill", s.Slots.PerSkill >= 0, "1, or 0 for all slots but one"},
		{"sandbox.slots.queue", s.Slots.Queue >= 1, "1"},
		{"sandbox.pool.max", s.Pool.Max >= 0, "1, or 0 for no pool"},
		{"sandbox.pool.idle", s.Pool.Idle >= time.Second, "1s"},
		{"sandbox.kept.total", s.Kept.Total >= 1, "1"},
		{"sandbox.kept.per_caller", s.Kept.PerTenant >= 1, "1"},
		{"sandbox.kept.idle", s.Kept.Idle >= time.Second, "1s"},
		{"sandbox.kept.lifetime", s.Kept.Lifetime >= time.Second, "1s"},
		{"record.keep", time.Duration(c.Record.Keep) >= time.Hour, "1h"},
		{"record.max", c.Record.Max >= 4<<20, "4MB"},
		{"sandbox.asking.wait", s.Asking.Wait >= time.Second, "1s"},
		{"sandbox.asking.total", s.Asking.Total >= 1, "1"},
		{"sandbox.asking.per_caller", s.Asking.PerCaller >= 1, "1"},
		{"install.limits.files", c.Install.Limits.Files >= 1, "1"},
		{"install.limits.file", c.Install.Limits.File >= 1<<10, "1KB"},
		{"install.limits.total", c.Install.Limits.Total >= 1<<10, "1KB"},
		{"install.limits.depth", c.Install.Limits.Depth >= 1, "1"},
		{"install.refresh", c.Install.Refresh >= time.Second, "1s"},
		{"agents.depth", c.Agents.Depth >= 1, "1"},
		{"agents.max_children", c.Agents.MaxChildren >= 1, "1"},
		{"agents.timeout", c.Agents.Timeout >= time.Second, "1s"},
		{"agents.keep", c.Agents.Keep >= time.Second, "1s"},
		{"agents.skills_per_turn", c.Agents.SkillsPerTurn >= 0, "0"},
		{"expose.max_tools", c.Expose.MaxTools >= 1, "1"},
		{"expose.catalog_chars", c.Expose.CatalogChars >= 1000, "1000"},
	} {
		if !v.ok {
			return fmt.Errorf("%s is too small; write at least %s", v.key, v.min)
		}
	}
	return nil
}
