package policy

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// A Profile bounds the calls of some principals: which skills exist for them, and what
// these may do at most. The stricter of it and of the policy counts; its variables alone
// give something. The zero Profile bounds nothing.
type Profile struct {
	// Mode is the mode of the calls, where it is the stricter one; "" is that of the policy.
	// In [ReadOnly] only safe skills exist.
	Mode Mode `yaml:"mode" json:"mode,omitempty" jsonschema:"enum=read-only,enum=confirm,enum=dual-sign"`
	// Allow and Deny are patterns of the skills that exist. Where both match one, the
	// narrower pattern counts, and Deny if they are equal. nil Allow is every skill.
	Allow []string `yaml:"allow" json:"allow,omitzero"`
	Deny  []string `yaml:"deny" json:"deny,omitzero"`
	// Class is the highest class of the skills that exist; "" is any.
	Class skills.Class `yaml:"class" json:"class,omitempty" jsonschema:"enum=safe,enum=mutating,enum=dangerous"`
	// Capabilities lists the capabilities that skills may require; nil is any.
	Capabilities []string `yaml:"capabilities" json:"capabilities,omitzero"`
	// MaxConcurrent bounds the calls that run at once; 0 does not.
	MaxConcurrent int `yaml:"max_concurrent_executions" json:"max_concurrent_executions,omitempty" jsonschema:"minimum=0"`
	// Timeout bounds each call; 0 does not.
	Timeout Timeout `yaml:"execution_timeout" json:"execution_timeout,omitempty"`
	// Pin are patterns of the skills that are shown first, in this order.
	Pin []string `yaml:"pin" json:"pin,omitzero"`
	// Workspace is an absolute folder in place of the workspaces of the server; "" is none.
	Workspace string `yaml:"workspace" json:"workspace,omitempty"`
	// Env has values of variables, by name, for the skills that name them. They are no
	// secrets.
	Env map[string]string `yaml:"env" json:"env,omitzero"`
	// Secrets are the names of the secrets that calls may have, of those that rules grant;
	// nil is any.
	Secrets []string `yaml:"secrets" json:"secrets,omitzero"`
}

// A Timeout is a time that is written like 90s or 5m; "" is 0.
type Timeout time.Duration

// String returns the time as it is written.
func (t Timeout) String() string {
	if t == 0 {
		return ""
	}
	return time.Duration(t).String()
}

// MarshalText implements [encoding.TextMarshaler].
func (t Timeout) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *Timeout) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(cmp.Or(string(text), "0"))
	if err != nil {
		return fmt.Errorf("execution_timeout is %.70q; write a time, such as 90s or 5m", text)
	}
	*t = Timeout(d)
	return nil
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckProfileName returns an error for a name that no profile can have.
func CheckProfileName(name string) error {
	if name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
		return fmt.Errorf("%.70q is no name of a profile; use letters, digits, dots, - and _", name)
	}
	return nil
}

// Check returns an error for a field of a profile that means nothing. It begins with key and
// the name of the field.
func (p *Profile) Check(key string) error {
	classes := []skills.Class{skills.Safe, skills.Mutating, skills.Dangerous}
	switch {
	case p.Mode != "" && !slices.Contains(Modes(), p.Mode):
		return fmt.Errorf("%s.mode is %q; write one of %s", key, p.Mode, words(Modes()))
	case p.Class != "" && !slices.Contains(classes, p.Class):
		return fmt.Errorf("%s.class is %q; write one of %s", key, p.Class, words(classes))
	case p.MaxConcurrent < 0:
		return fmt.Errorf("%s.max_concurrent_executions is %d; write at least 1, or 0 for no limit", key, p.MaxConcurrent)
	case p.Timeout < 0:
		return fmt.Errorf("%s.execution_timeout is %s; write a time above 0, such as 90s", key, p.Timeout)
	case p.Workspace != "" && !filepath.IsAbs(p.Workspace):
		return fmt.Errorf("%s.workspace is %q; write an absolute folder", key, p.Workspace)
	}
	for _, pattern := range slices.Concat(p.Allow, p.Deny, p.Pin) {
		if CheckPattern(pattern) != nil {
			return fmt.Errorf("%s has the pattern %q; write the name of a skill, or a pattern such as plugin/*", key, pattern)
		}
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(p.Env)), p.Secrets) {
		if !variableName.MatchString(name) || strings.ContainsRune(p.Env[name], 0) {
			return fmt.Errorf("%s has the variable or secret %q; write NAME: value for a variable, NAME for a secret", key, name)
		}
	}
	return nil
}

// Fields returns the fields that are set, by their keys, in words.
func (p *Profile) Fields() [][2]string {
	var all [][2]string
	add := func(key, text string) { all = append(all, [2]string{key, text}) }
	list := func(key string, values []string) {
		if values != nil {
			add(key, cmp.Or(strings.Join(values, ", "), "none"))
		}
	}
	if p.Mode != "" {
		add("mode", string(p.Mode))
	}
	list("allow", p.Allow)
	list("deny", p.Deny)
	if p.Class != "" {
		add("class", string(p.Class))
	}
	list("capabilities", p.Capabilities)
	if p.MaxConcurrent > 0 {
		add("max_concurrent_executions", strconv.Itoa(p.MaxConcurrent))
	}
	if p.Timeout > 0 {
		add("execution_timeout", p.Timeout.String())
	}
	list("pin", p.Pin)
	if p.Workspace != "" {
		add("workspace", p.Workspace)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		add("env", name+"="+p.Env[name])
	}
	list("secrets", p.Secrets)
	return all
}

func words[T ~string](list []T) string {
	all := make([]string, len(list))
	for i, word := range list {
		all[i] = string(word)
	}
	return strings.Join(all, ", ")
}

// A NamedProfile is a profile with its name.
type NamedProfile struct {
	Name string `json:"name"`
	// Configured reports that the configuration has it, where alone it can be changed.
	Configured bool `json:"configured"`
	Profile
}

// highest returns the highest class of the skills that exist; "" is any.
func (p *Profile) highest() skills.Class {
	if p.Mode == ReadOnly {
		return skills.Safe
	}
	return p.Class
}
