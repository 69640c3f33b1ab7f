package surface

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// packages adds the packages that a file of a package manager declares, or the metadata
// of a Python script.
func (c *collector) packages(s *source) {
	base := strings.ToLower(path.Base(s.name))
	switch {
	case strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt"):
		c.requirements(s)
	case base == "package.json":
		c.node(s)
	case base == "pyproject.toml":
		c.list(s, s.content, "dependencies = [", "")
	case s.language == pythonCode && strings.Contains(s.content, "# /// script"):
		c.list(s, s.content, "# dependencies = [", "#")
	}
}

func (c *collector) requirements(s *source) {
	line := 0
	for text := range strings.Lines(s.content) {
		line++
		text, _, _ = strings.Cut(text, "#")
		if text = strings.TrimSpace(text); text != "" && !strings.HasPrefix(text, "-") {
			c.required(s, "python", text, line)
		}
	}
}

func (c *collector) required(s *source, kind, requirement string, line int) {
	if name := packageName(requirement); name != "" {
		c.add(Item{Kind: Package, Value: kind + ":" + name, Text: requirement, File: s.name, Line: line})
	}
}

// list adds the packages of a list of texts that begins with a line, each after a
// prefix.
func (c *collector) list(s *source, text, begin, prefix string) {
	at := strings.Index(text, begin)
	if at < 0 {
		return
	}
	line, rest := s.line(at), text[at+len(begin):]
	for part := range strings.Lines(rest) {
		part = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(part), prefix))
		for i, word := range strings.FieldsFunc(part, func(r rune) bool { return r == '"' || r == '\'' }) {
			quoted := strings.HasPrefix(part, `"`) || strings.HasPrefix(part, `'`)
			if word = strings.Trim(word, " ,"); word != "" && word != "]" && (i%2 == 0) == quoted {
				c.required(s, "python", word, line)
			}
		}
		if strings.HasSuffix(part, "]") || part == "]," {
			return
		}
		line++
	}
}

// node adds the packages of a package.json, and the scripts that its installation runs.
func (c *collector) node(s *source) {
	var manifest struct {
		Dependencies, DevDependencies, OptionalDependencies, PeerDependencies, Scripts map[string]string
	}
	if json.Unmarshal([]byte(s.content), &manifest) != nil {
		return
	}
	for _, all := range []map[string]string{manifest.Dependencies, manifest.DevDependencies, manifest.OptionalDependencies, manifest.PeerDependencies} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			value := "node:" + strings.ToLower(name)
			if version := all[name]; strings.ContainsAny(version, ":/") {
				value += " at " + passage(version)
			}
			c.add(Item{Kind: Package, Value: value, File: s.name, Line: s.line(max(0, strings.Index(s.content, `"`+name+`"`)))})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(manifest.Scripts)) {
		c.shell(s, block{text: manifest.Scripts[name], line: s.line(max(0, strings.Index(s.content, `"`+name+`"`)))})
		switch name {
		case "preinstall", "install", "postinstall", "prepare", "prepublish":
			c.add(Item{Kind: Persistence, Value: "what an installation runs: " + manifest.Scripts[name], File: s.name})
		}
	}
}

// configured adds the hooks and MCP servers that a JSON file declares for a client.
func (c *collector) configured(s *source) {
	if !strings.HasSuffix(strings.ToLower(s.name), ".json") || !containsAny(s.lower, `"hooks"`, `"mcpservers"`, `"mcp_servers"`, `"permissions"`) {
		return
	}
	var config map[string]any
	if json.Unmarshal([]byte(s.content), &config) != nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		switch strings.ToLower(key) {
		case "hooks":
			c.leaves(Hook, config[key])
		case "mcpservers", "mcp_servers":
			c.leaves(Server, config[key])
		case "permissions":
			if permissions, ok := config[key].(map[string]any); ok {
				for _, name := range tools(permissions["allow"]) {
					c.add(Item{Kind: Tool, Value: name, File: s.name})
				}
			}
		}
	}
}
