package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"gopkg.in/yaml.v3"
)

const (
	// maxHosts bounds the hosts that a skill declares.
	maxHosts = 64
	// maxVariables bounds the variables that it wants.
	maxVariables = 64
	// maxWarm bounds the prepared sandboxes of a skill.
	maxWarm = 8
)

// sandbox reads the script's requirements of its sandbox:
//
//	sandbox: {network: ["api.example.com:443"], warm: 2, env: [API_TOKEN]}
func (p entryReader) sandbox(entry *skills.Entry) {
	node := p.fields.get("sandbox")
	if node == nil {
		return
	}
	if node.Kind != yaml.MappingNode {
		p.fields.wrongType("sandbox", "a map such as {network: [api.example.com:443]}")
		return
	}
	f := newFields(node, func(severity skills.Severity, at Position, remedy, format string, args ...any) {
		p.report(severity, at, remedy, "in sandbox: "+format, args...)
	})
	for _, field := range f.list {
		if !slices.Contains([]string{"env", "network", "warm"}, field.key) {
			remedy := "use env, network and warm"
			if DialectOf(field.key) != "" {
				remedy = "write it at the top of the frontmatter"
			}
			f.report(skills.Warning, field.at, remedy, "%q is not known and is ignored", field.key)
		}
	}
	p.network(entry, f)
	entry.Warm = warm(f)
	entry.Env = variables(f, "env")
}

// network reads the hosts. With one that cannot be read, the skill is
// unavailable.
func (p entryReader) network(entry *skills.Entry, f fields) {
	node := f.get("network")
	if node == nil {
		return
	}
	items := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		items = node.Content
	}
	for _, item := range items {
		item = deref(item)
		err := p.checkHost(item)
		if err == nil && len(entry.Network) == maxHosts {
			err = fmt.Errorf("it has more than %d hosts", maxHosts)
		}
		if err != nil {
			p.skill.Unavailable = "sandbox.network: " + err.Error()
			p.report(skills.Error, posOf(item), "write each host as name:port", "%s", p.skill.Unavailable)
			return
		}
		entry.Network = append(entry.Network, item.Value)
	}
	if p.skill.Class == skills.Safe && len(entry.Network) > 0 {
		p.report(skills.Warning, f.pos("network"), "declare class: mutating", "a safe skill that declares network counts as mutating: its calls are asked about")
	}
}

func (p entryReader) checkHost(item *yaml.Node) error {
	if item.Kind != yaml.ScalarNode || isNull(item) {
		return fmt.Errorf("there is something that is no host; list hosts such as api.example.com:443")
	}
	if p.options.Host == nil {
		return nil
	}
	return p.options.Host(item.Value)
}

// warm reads the number of sandboxes to prepare; false is none.
func warm(f fields) int {
	node := f.get("warm")
	if node == nil {
		return 0
	}
	if on, ok := f.flag("warm", true); ok {
		if on {
			return 0
		}
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(node.Value))
	if node.Kind != yaml.ScalarNode || err != nil || n < 0 {
		f.wrongType("warm", fmt.Sprintf("a number from 0 to %d, or false", maxWarm))
		return 0
	}
	if n > maxWarm {
		f.report(skills.Warning, f.pos("warm"), fmt.Sprintf("write at most %d", maxWarm), `"warm" is %d; %d are had ready`, n, maxWarm)
	}
	return min(n, maxWarm)
}

// environmentName is a variable's.
var environmentName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variables reads the names of the variables that a script wants.
func variables(f fields, key string) []string {
	var names []string
	for _, name := range f.words(key, strings.Fields) {
		switch {
		case !environmentName.MatchString(name):
			f.report(skills.Warning, f.pos(key), "write names of variables", "%s in %q is not the name of a variable and is ignored", show(name), key)
		case slices.Contains(names, name):
		case len(names) == maxVariables:
			f.report(skills.Warning, f.pos(key), "name fewer", "%q has more than %d variables; the rest is ignored", key, maxVariables)
			return names
		default:
			names = append(names, name)
		}
	}
	return names
}
