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
	case base == "pyproject.toml", s.language == pythonCode && strings.Contains(s.content, "# /// script"):
		c.list(s)
	}
}

func (c *collector) requirements(s *source) {
	line := 0
	for text := range strings.Lines(s.content) {
		line++
		text, _, _ = strings.Cut(text, "#")
		if text = strings.TrimSpace(text); !strings.HasPrefix(text, "-") {
			c.required(s, text, line)
		}
	}
}

func (c *collector) required(s *source, requirement string, line int) {
	if name := packageName(requirement); name != "" {
		c.add(Item{Kind: Package, Value: "python:" + name, Text: requirement, File: s.name, Line: line})
	}
}

// list adds the packages of the list "dependencies = [ … ]" of TOML.
func (c *collector) list(s *source) {
	const begin = "dependencies = ["
	at := strings.Index(s.content, begin)
	if at < 0 {
		return
	}
	line := s.line(at)
	for text := range strings.Lines(s.content[at+len(begin):]) {
		parts := strings.Split(strings.ReplaceAll(text, "'", `"`), `"`)
		for i := 1; i < len(parts); i += 2 {
			c.required(s, parts[i], line)
		}
		if strings.HasSuffix(strings.TrimRight(text, " ,\n"), "]") {
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
	lineOf := func(name string) int { return s.line(max(0, strings.Index(s.content, `"`+name+`"`))) }
	for _, all := range []map[string]string{manifest.Dependencies, manifest.DevDependencies, manifest.OptionalDependencies, manifest.PeerDependencies} {
		for name, version := range all {
			value := "node:" + strings.ToLower(name)
			if strings.ContainsAny(version, ":/") {
				value += " at " + passage(version)
			}
			c.add(Item{Kind: Package, Value: value, File: s.name, Line: lineOf(name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(manifest.Scripts)) {
		command := manifest.Scripts[name]
		c.shell(s, block{text: command, line: lineOf(name)})
		switch name {
		case "preinstall", "install", "postinstall", "prepare", "prepublish":
			c.add(Item{Kind: Persistence, Value: "what an installation runs: " + command, File: s.name})
		}
	}
}
