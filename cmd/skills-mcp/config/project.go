package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
)

// ProjectFile is the name of a workspace's own configuration file.
const ProjectFile = ".skills-mcp.yaml"

// A Project is the content of a workspace's own file. A stranger may have written
// it, so it can name folders of the workspace, narrow the policy, and nothing else: the
// person alone decides which files skills see and where they run.
type Project struct {
	Skills  []string      `yaml:"skills"`
	Plugins []string      `yaml:"plugins"`
	Policy  ProjectPolicy `yaml:"policy"`
}

// A ProjectPolicy narrows the policy of the person.
type ProjectPolicy struct {
	Mode   string                 `yaml:"mode"` // dual-sign or read-only; "" is that of the person
	Deny   []string               `yaml:"deny"`
	Skills map[string]ProjectRule `yaml:"skills"` // by pattern
}

// A ProjectRule narrows what the skills of a pattern may do.
type ProjectRule struct {
	Enabled *bool         `yaml:"enabled"` // false
	Class   string        `yaml:"class"`   // a higher one
	Approve string        `yaml:"approve"` // each
	Timeout time.Duration `yaml:"timeout"` // a shorter one
}

// validate returns an error for a policy that could widen that of the person.
func (p ProjectPolicy) validate() error {
	if p.Mode != "" && !slices.Contains(policy.Modes(), policy.Mode(p.Mode)) {
		return fmt.Errorf("policy.mode is %q; write one of %s", p.Mode, list(policy.Modes()))
	}
	if err := validatePatterns("policy", p.Deny); err != nil {
		return err
	}
	const only = "a workspace's own file can only narrow what its user allows"
	for _, pattern := range slices.Sorted(maps.Keys(p.Skills)) {
		key, r := "policy.skills."+pattern, p.Skills[pattern]
		switch {
		case r.Enabled != nil && *r.Enabled:
			return fmt.Errorf("%s.enabled is true; %s: write false, or leave it out", key, only)
		case r.Class != "" && r.Class != string(skills.Mutating) && r.Class != string(skills.Dangerous):
			return fmt.Errorf("%s.class is %q; %s: write mutating or dangerous", key, r.Class, only)
		case r.Approve != "" && r.Approve != string(policy.Each) && r.Approve != string(policy.Once):
			return fmt.Errorf("%s.approve is %q; %s: write each", key, r.Approve, only)
		case r.Timeout < 0:
			return fmt.Errorf("%s.timeout is %s; write a time above 0, such as 90s", key, r.Timeout)
		}
		if err := validatePatterns("policy.skills", []string{pattern}); err != nil {
			return err
		}
	}
	return nil
}

// Narrow adds the policy of a workspace's own file to that of the person. The error says
// what would widen it.
func (p ProjectPolicy) Narrow(o *policy.Options) error {
	if p.Mode != "" {
		if !policy.Mode(p.Mode).Narrows(o.Mode) {
			return fmt.Errorf("policy.mode is %q, and yours, %s, allows less; remove it", p.Mode, o.Mode)
		}
		o.Mode = policy.Mode(p.Mode)
	}
	off, of := false, " of the workspace's "+ProjectFile
	for _, pattern := range p.Deny {
		o.Rules = append(o.Rules, policy.Rule{Pattern: pattern, Name: "policy.deny" + of, Narrows: true, Enabled: &off})
	}
	for _, pattern := range slices.Sorted(maps.Keys(p.Skills)) {
		r := p.Skills[pattern]
		o.Rules = append(o.Rules, policy.Rule{
			Pattern: pattern, Name: "policy.skills." + pattern + of, Narrows: true,
			Enabled: r.Enabled, Class: skills.Class(r.Class), Approve: policy.Scope(r.Approve), Timeout: r.Timeout,
		})
	}
	return nil
}

// ParseProject decodes the file of the workspace dir. Its paths become absolute.
func ParseProject(data []byte, dir string) (*Project, error) {
	file := filepath.Join(dir, ProjectFile)
	p := &Project{}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, explainProject(err))
	}
	if err := p.Policy.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, paths := range [][]string{p.Skills, p.Plugins} {
		for i, path := range paths {
			if !filepath.IsLocal(path) {
				return nil, fmt.Errorf("%s: %q is not in the workspace; name it with --skills or --plugins", file, path)
			}
			paths[i] = filepath.Join(dir, path)
		}
	}
	return p, nil
}

// explainProject explains a decoding error; for a key of [Config] it names the file
// where that belongs.
func explainProject(err error) error {
	var typeError *yaml.TypeError
	if errors.As(err, &typeError) {
		for _, line := range typeError.Errors {
			m := unknownField.FindStringSubmatch(line)
			if m != nil && slices.ContainsFunc([]string{"config.Config", "config.Policy", "config.SkillRule"}, func(of string) bool {
				return slices.Contains(keys(reflect.TypeFor[Config](), of), m[2])
			}) {
				return fmt.Errorf("line %s: %q cannot be set by a workspace's own file, only by yours; set it in the user's configuration, or name this file with --config if you trust it", m[1], m[2])
			}
		}
	}
	return explain(err, reflect.TypeFor[Project]())
}
