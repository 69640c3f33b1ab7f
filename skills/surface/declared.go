package surface

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// collectDeclared returns a collector with what a skill and its tools ask for.
func collectDeclared(owner *skills.Skill) *collector {
	c := newCollector()
	c.declared(owner)
	for _, tool := range owner.Tools {
		// A plugin's server lists its tools after its files were accepted, and each is asked
		// about as it was listed.
		if tool.Entry == nil || tool.Entry.Server == nil {
			c.declared(tool)
		}
	}
	return c
}

// declared adds what the definition of a skill asks for.
func (c *collector) declared(s *skills.Skill) {
	c.add(Item{Kind: Name, Value: s.Name})
	if s.Class != skills.Safe && s.Class != "" {
		c.add(Item{Kind: Class, Value: string(s.Class)})
	}
	if s.Class == skills.Dangerous { // so that the way down is no gain
		c.add(Item{Kind: Class, Value: string(skills.Mutating)})
	}
	for _, asked := range s.Asks {
		c.add(Item{Kind: Asks, Value: string(asked)})
	}
	c.addAll(Calls, s.Calls)
	c.addAll(Variable, slices.Concat(s.Requires.Env, s.Secrets))
	c.addAll(Command, slices.Concat(s.Requires.Bins, s.Requires.AnyBins))
	c.addAll(Tool, slices.Concat(s.Requires.Capabilities, s.Requires.Config))
	if e := s.Entry; e != nil {
		for _, host := range e.Network {
			c.add(Item{Kind: Host, Value: strings.TrimSuffix(strings.ToLower(host), ":443")})
		}
		c.addAll(Variable, e.Env)
		c.add(Item{Kind: Image, Value: cmp.Or(e.ImageRole, "default")})
		if len(e.Interpreter) > 0 {
			c.add(Item{Kind: Command, Value: program(e.Interpreter[0])})
		}
	}
	c.configuration("", s.Frontmatter)
}

func (c *collector) addAll(kind Kind, values []string) {
	for _, value := range values {
		c.add(Item{Kind: kind, Value: value})
	}
}

// configured adds the hooks, MCP servers and permissions that a JSON file declares for a
// client.
func (c *collector) configured(s *source) {
	if !strings.HasSuffix(strings.ToLower(s.name), ".json") || !slices.ContainsFunc([]string{`"hooks"`, `"mcpservers"`, `"mcp_servers"`, `"permissions"`}, func(key string) bool { return strings.Contains(s.lower, key) }) {
		return
	}
	var config map[string]any
	if json.Unmarshal([]byte(s.content), &config) == nil {
		c.configuration(s.name, config)
	}
}

// configuration adds the keys of a frontmatter, or of a client's settings, that allow
// tools or start something. They are for other clients: nothing here obeys them.
func (c *collector) configuration(file string, all map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value := all[key]
		switch strings.ReplaceAll(strings.ToLower(key), "_", "-") {
		case "allowed-tools", "tools", "permissions", "allow":
			if nested, ok := value.(map[string]any); ok {
				c.configuration(file, nested)
				continue
			}
			for _, name := range tools(value) {
				c.add(Item{Kind: Tool, Value: name, File: file})
			}
		case "hooks":
			c.leaves(Hook, value)
		case "mcpservers", "mcp-servers", "mcp":
			c.leaves(Server, value)
		case "metadata", "openclaw", "clawdbot", "clawdis":
			if nested, ok := value.(map[string]any); ok {
				c.configuration(file, nested)
			}
		}
	}
}

// tools returns the names of a list, or of a text that separates them by commas or
// spaces outside of parentheses.
func tools(value any) (names []string) {
	switch v := value.(type) {
	case string:
		depth := 0
		return strings.FieldsFunc(v, func(r rune) bool {
			switch r {
			case '(':
				depth++
			case ')':
				depth--
			}
			return depth == 0 && (r == ',' || r == ' ' || r == '\n')
		})
	case []any:
		for _, item := range v {
			names = append(names, tools(item)...)
		}
	}
	return names
}

// leaves adds the texts of a declaration of hooks or servers that name a command, a URL
// or a prompt.
func (c *collector) leaves(kind Kind, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range []string{"command", "url", "prompt", "httpUrl", "serverUrl"} {
			if command, ok := v[key].(string); ok {
				if args, ok := v["args"].([]any); ok {
					command += " " + strings.Trim(fmt.Sprint(args), "[]")
				}
				c.add(Item{Kind: kind, Value: passage(command)})
				return
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			c.leaves(kind, v[key])
		}
	case []any:
		for _, item := range v {
			c.leaves(kind, item)
		}
	}
}
