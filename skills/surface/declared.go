package surface

import (
	"cmp"
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
		c.declared(tool)
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
	for _, pattern := range s.Calls {
		c.add(Item{Kind: Calls, Value: pattern})
	}
	for _, name := range s.Requires.Env {
		c.add(Item{Kind: Variable, Value: name})
	}
	for _, name := range slices.Concat(s.Requires.Bins, s.Requires.AnyBins) {
		c.add(Item{Kind: Command, Value: name})
	}
	for _, name := range slices.Concat(s.Requires.Capabilities, s.Requires.Config) {
		c.add(Item{Kind: Tool, Value: name})
	}
	c.entry(s.Entry)
	c.frontmatter(s.Frontmatter)
}

// entry adds what a script is declared to need.
func (c *collector) entry(e *skills.Entry) {
	if e == nil {
		return
	}
	for _, host := range e.Network {
		c.add(Item{Kind: Host, Value: strings.TrimSuffix(strings.ToLower(host), ":443")})
	}
	for _, name := range e.Env {
		c.add(Item{Kind: Variable, Value: name})
	}
	c.add(Item{Kind: Image, Value: cmp.Or(e.ImageRole, "default")})
	if len(e.Interpreter) > 0 {
		c.add(Item{Kind: Command, Value: program(e.Interpreter[0])})
	}
}

// frontmatter adds the keys of a frontmatter that allow tools or start something. They
// are for other clients: nothing here obeys them.
func (c *collector) frontmatter(all map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value := all[key]
		switch strings.ReplaceAll(strings.ToLower(key), "_", "-") {
		case "allowed-tools", "tools", "permissions", "capabilities":
			for _, name := range tools(value) {
				c.add(Item{Kind: Tool, Value: name})
			}
		case "hooks":
			c.leaves(Hook, value)
		case "mcpservers", "mcp-servers", "mcp":
			c.leaves(Server, value)
		case "primaryenv", "primary-env":
			c.add(Item{Kind: Variable, Value: fmt.Sprint(value)})
		case "metadata", "openclaw", "clawdbot", "clawdis":
			if nested, ok := value.(map[string]any); ok {
				c.frontmatter(nested)
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
	case map[string]any:
		names = slices.Sorted(maps.Keys(v))
	}
	return names
}

// leaves adds the texts of a declaration of hooks or servers that name a command, a URL
// or a prompt.
func (c *collector) leaves(kind Kind, value any) {
	switch v := value.(type) {
	case map[string]any:
		command := ""
		for _, key := range []string{"command", "url", "prompt", "httpUrl", "serverUrl"} {
			if text, ok := v[key].(string); ok {
				command = text
				break
			}
		}
		if command != "" {
			if args, ok := v["args"].([]any); ok {
				command = strings.TrimSpace(command + " " + strings.Trim(fmt.Sprint(args...), "[]"))
			}
			c.add(Item{Kind: kind, Value: passage(command)})
			return
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
