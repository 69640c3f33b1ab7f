package config

import (
	"fmt"
	"net/netip"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// Network is what skills may connect to at the most. A skill gets of it what it
// declares.
type Network struct {
	// Allow are hosts; none is no network for any skill.
	Allow []Host `yaml:"allow"`
	// Private are networks that are not public, of which Allow may name addresses.
	Private []Prefix `yaml:"private"`
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

// Hosts are what skills may connect to at the most.
func (c *Config) Hosts() []egress.Rule {
	var rules []egress.Rule
	for _, host := range c.Sandbox.Network.Allow {
		rules = append(rules, host.Rule)
	}
	return rules
}

// Egress says how skills are connected, for the drivers.
func (c *Config) Egress() *egress.Options {
	options := &egress.Options{}
	for _, p := range c.Sandbox.Network.Private {
		options.Private = append(options.Private, p.Prefix)
	}
	return options
}
