package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Policy decides which skills may run, what they get, and who has to confirm it.
type Policy struct {
	Mode     string                    `yaml:"mode"` // read-only, confirm or dual-sign
	Allow    []string                  `yaml:"allow"`
	Deny     []string                  `yaml:"deny"`
	Skills   map[string]SkillRule      `yaml:"skills"`   // by pattern
	Profiles map[string]policy.Profile `yaml:"profiles"` // by name

	Passphrase  string            `yaml:"passphrase"`   // hash of the person's own; "" asks for none
	Approvers   map[string]string `yaml:"approvers"`    // hashes of other people's passphrases, by name
	ScriptToken string            `yaml:"script_token"` // hash of the token by which a script of the person approves
	Expiry      Expiry            `yaml:"expiry"`
	Forms       Forms             `yaml:"forms"` // the calls that clients' forms ask about
}

// A SkillRule is a rule about the skills of a pattern. It converts to a [policy.Rule].
type SkillRule struct {
	Enabled   *bool         `yaml:"enabled"`
	Class     string        `yaml:"class"`   // safe, mutating or dangerous
	Approve   string        `yaml:"approve"` // once, session, always or each
	Network   []Host        `yaml:"network"`
	Workspace string        `yaml:"workspace"` // ro or rw
	Write     []string      `yaml:"write"`     // protected paths
	Secrets   []SecretItem  `yaml:"secrets"`
	Env       []string      `yaml:"env"`   // names of variables
	Calls     []string      `yaml:"calls"` // patterns of the skills that it may call
	Timeout   time.Duration `yaml:"timeout"`
	Origin    string        `yaml:"origin"` // of the skills that it is about
}

// An Expiry bounds the lives of approvals. It converts to an [approval.Expiry].
type Expiry struct {
	Pending time.Duration `yaml:"pending"` // of a question
	Once    time.Duration `yaml:"once"`    // of an approval of one call
	Always  time.Duration `yaml:"always"`  // of an approval of all later calls
}

func (p Policy) validate() error {
	if !slices.Contains(policy.Modes(), policy.Mode(p.Mode)) {
		return fmt.Errorf("policy.mode is %q; write one of %s", p.Mode, list(policy.Modes()))
	}
	if err := validatePatterns("policy", p.Allow, p.Deny); err != nil {
		return err
	}
	for _, pattern := range slices.Sorted(maps.Keys(p.Skills)) {
		if err := validatePatterns("policy.skills", []string{pattern}); err != nil {
			return err
		}
		if err := p.Skills[pattern].validate("policy.skills." + pattern); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Profiles)) {
		if err := policy.CheckProfileName(name); err != nil {
			return fmt.Errorf("policy.profiles: %w", err)
		}
		if profile := p.Profiles[name]; profile.Check("policy.profiles."+name) != nil {
			return profile.Check("policy.profiles." + name)
		}
	}
	return nil
}

func (r SkillRule) validate(key string) error {
	if err := validateClass(key, r.Class); err != nil {
		return err
	}
	switch {
	case r.Approve != "" && !slices.Contains(policy.Scopes(), policy.Scope(r.Approve)):
		return fmt.Errorf("%s.approve is %q; write one of %s", key, r.Approve, list(policy.Scopes()))
	case r.Workspace != "" && r.Workspace != "ro" && r.Workspace != "rw":
		return fmt.Errorf("%s.workspace is %q; write ro or rw", key, r.Workspace)
	case r.Timeout < 0:
		return fmt.Errorf("%s.timeout is %s; write a time above 0, such as 90s", key, r.Timeout)
	case r.Class == string(skills.Safe) && (r.Workspace == "rw" || len(r.Network)+len(r.Secrets)+len(r.Env)+len(r.Write) > 0):
		return fmt.Errorf("%s.class is safe, and a safe skill is given no network, no secrets and no writable workspace; remove one or the other", key)
	}
	for _, name := range r.Write {
		if !slices.Contains(sandbox.Protected(), name) {
			return fmt.Errorf("%s.write has %q; write one of %s", key, name, list(sandbox.Protected()))
		}
	}
	if err := validatePatterns(key+".calls", r.Calls); err != nil {
		return err
	}
	for i := range r.Secrets {
		if s := &r.Secrets[i].Grant; s.Name != "" {
			if err := policy.CheckSecret(s); err != nil {
				return fmt.Errorf("%s.secrets: %w", key, err)
			}
		}
	}
	for _, name := range r.variables() {
		if !environmentEntry.MatchString(name) || strings.Contains(name, "=") {
			return fmt.Errorf("%s names the variable %q; write NAME", key, name)
		}
	}
	return nil
}

func validateClass(key, class string) error {
	all := []skills.Class{skills.Safe, skills.Mutating, skills.Dangerous}
	if class != "" && !slices.Contains(all, skills.Class(class)) {
		return fmt.Errorf("%s.class is %q; write one of %s", key, class, list(all))
	}
	return nil
}

// Configured returns which key of the configuration sets a field that a rule has for its
// skill, or "".
func (p *Policy) Configured(given *policy.Rule) string {
	own, there := p.Skills[given.Pattern]
	for _, field := range []struct {
		key      string
		set, has bool
	}{
		{"network", own.Network != nil, given.Hosts != nil},
		{"secrets", len(own.Secrets)+len(own.Env) > 0, given.Env != nil},
		{"secrets", slices.ContainsFunc(own.Secrets, func(s SecretItem) bool { return s.Grant.Name != "" }), given.Secrets != nil},
		{"calls", own.Calls != nil, given.Calls != nil},
		{"workspace", own.Workspace != "", given.Write != nil},
		{"write", own.Write != nil, given.Unprotected != nil},
		{"class", own.Class != "", given.Class != ""},
		{"approve", own.Approve != "", given.Approve != ""},
	} {
		if there && field.set && field.has {
			return fmt.Sprintf("policy.skills.%s.%s of the configuration says so", given.Pattern, field.key)
		}
	}
	return ""
}

func validatePatterns(key string, lists ...[]string) error {
	for _, pattern := range slices.Concat(lists...) {
		if policy.CheckPattern(pattern) != nil {
			return fmt.Errorf("%s has the pattern %q; write the name of a skill, or a pattern such as plugin/*", key, pattern)
		}
	}
	return nil
}

// Options returns the mode, the rules and the profiles for package policy.
func (p Policy) Options() policy.Options {
	options := policy.Options{Mode: policy.Mode(p.Mode), Profiles: map[string]policy.Profile{"": {Allow: p.Allow, Deny: p.Deny}}}
	for _, pattern := range slices.Sorted(maps.Keys(p.Skills)) {
		options.Rules = append(options.Rules, p.Skills[pattern].rule(pattern))
	}
	maps.Copy(options.Profiles, p.Profiles)
	return options
}

// Rule returns a rule about the skills of a pattern. The error is of an invalid field.
func (r SkillRule) Rule(pattern string) (policy.Rule, error) {
	return r.rule(pattern), r.validate(pattern)
}

func (r SkillRule) rule(pattern string) policy.Rule {
	rule := policy.Rule{
		Pattern: pattern, Name: "policy.skills." + pattern + " in the configuration", Origin: r.Origin,
		Enabled: r.Enabled, Calls: r.Calls, Unprotected: r.Write, Class: skills.Class(r.Class), Approve: policy.Scope(r.Approve), Timeout: r.Timeout,
	}
	if r.Network != nil {
		rule.Hosts = []egress.Rule{}
		for _, host := range r.Network {
			rule.Hosts = append(rule.Hosts, host.Rule)
		}
	}
	if r.Workspace != "" {
		write := r.Workspace == "rw"
		rule.Write = &write
	}
	rule.Env = r.variables()
	for _, item := range r.Secrets {
		if item.Grant.Name != "" {
			rule.AddSecret(item.Grant)
		}
	}
	return rule
}

// variables returns the names of the variables of the environment; nil is none.
func (r SkillRule) variables() []string {
	var names []string
	for _, item := range r.Secrets {
		if item.Grant.Name == "" {
			names = append(names, item.Variable)
		}
	}
	return append(names, r.Env...)
}
