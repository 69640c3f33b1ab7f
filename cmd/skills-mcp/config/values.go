package config

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// environmentEntry matches NAME and NAME=value.
var environmentEntry = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(=[^\x00]*)?$`)

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

// An Age is a time, written like 90d, or in the units of [time.ParseDuration].
type Age time.Duration

// UnmarshalYAML reads an age.
func (a *Age) UnmarshalYAML(node *yaml.Node) error {
	d, err := ParseAge(node.Value)
	if err != nil || node.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: %q is not a time; write for example 90d or 12h", node.Line, node.Value)
	}
	*a = Age(d)
	return nil
}

// ParseAge returns the time of a text such as 90d, 12h or 90m.
func ParseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	return time.ParseDuration(text)
}

// A SecretItem is the name of a variable of the environment, or the grant of a secret.
type SecretItem struct {
	Variable string
	Grant    run.SecretGrant
}

// String returns the item for people.
func (i SecretItem) String() string {
	if i.Grant.Name == "" {
		return i.Variable
	}
	return i.Grant.String()
}

// UnmarshalYAML reads a name, or a mapping with the keys of a grant.
func (i *SecretItem) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&i.Variable)
	}
	text, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	var grant struct {
		Name    string   `yaml:"name"`
		Hosts   []string `yaml:"hosts"`
		Methods []string `yaml:"methods"`
		Paths   []string `yaml:"paths"`
		In      []string `yaml:"in"`
		Header  string   `yaml:"header"`
		As      string   `yaml:"as"`
		File    string   `yaml:"file"`
		Extract string   `yaml:"extract"`
		Plain   bool     `yaml:"plain"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&grant); err != nil || grant.Name == "" {
		return fmt.Errorf("line %d: a secret is a name, or has the keys name, hosts, methods, paths, in, header, as, file, extract and plain, such as {name: GITHUB_TOKEN, hosts: [api.github.com]}", node.Line)
	}
	i.Grant = run.SecretGrant(grant)
	return nil
}

// Words are a command and its arguments: a list, or a text with spaces between them.
type Words []string

// UnmarshalYAML reads words.
func (w *Words) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*w = strings.Fields(node.Value)
		return nil
	}
	return node.Decode((*[]string)(w))
}

// Plugins are folders of plugins, and what the code of plugins is given.
type Plugins struct {
	Dirs    []string                  `yaml:"dir"`
	Enabled []string                  `yaml:"enabled"` // ids of plugins whose code may run; * is all
	Config  map[string]map[string]any `yaml:"-"`       // by id and key; the values may be secret
}

// UnmarshalYAML reads a list of folders, or a mapping with the keys dir, enabled and config.
func (p *Plugins) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return node.Decode(&p.Dirs)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		var err error
		switch {
		case key.Value == "dir" && value.Kind == yaml.ScalarNode:
			p.Dirs = []string{value.Value}
		case key.Value == "dir":
			err = value.Decode(&p.Dirs)
		case key.Value == "enabled" && value.Tag == "!!bool":
			if p.Enabled = []string{"*"}; value.Value != "true" {
				p.Enabled = nil
			}
		case key.Value == "enabled":
			err = value.Decode(&p.Enabled)
		case key.Value == "config":
			err = value.Decode(&p.Config)
		default:
			err = fmt.Errorf("line %d: unknown key %q%s", key.Line, key.Value, plain.DidYouMean(key.Value, []string{"dir", "enabled", "config"}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Forms are the calls that clients' forms ask about. They convert to [approval.Forms].
type Forms string

// UnmarshalYAML reads one of [approval.AllForms].
func (f *Forms) UnmarshalYAML(node *yaml.Node) error {
	*f = Forms(node.Value)
	all := strings.Split(list(approval.AllForms()), ", ")
	if node.Kind != yaml.ScalarNode || !slices.Contains(all, node.Value) {
		return fmt.Errorf("line %d: policy.forms is %q; write one of %s%s", node.Line, node.Value, strings.Join(all, ", "), plain.DidYouMean(node.Value, all))
	}
	return nil
}

// list joins words for people.
func list[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = string(word)
	}
	return strings.Join(all, ", ")
}

// A Host is written as [egress.ParseRule] reads it.
type Host struct{ egress.Rule }

// UnmarshalYAML reads a host.
func (h *Host) UnmarshalYAML(node *yaml.Node) error {
	rule, err := egress.ParseRule(node.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	h.Rule = rule
	return nil
}

// A Prefix is a network, written like 10.1.0.0/16.
type Prefix struct{ netip.Prefix }

// UnmarshalYAML reads a network.
func (p *Prefix) UnmarshalYAML(node *yaml.Node) error {
	prefix, err := netip.ParsePrefix(node.Value)
	if err != nil || prefix != prefix.Masked() {
		return fmt.Errorf("line %d: %q is not a network; write its first address and its length, such as 10.1.0.0/16, or 10.1.2.3/32 for one address", node.Line, node.Value)
	}
	p.Prefix = prefix
	return nil
}
