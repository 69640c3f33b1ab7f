package serving

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/web"
)

// Settings implements [web.Manage].
func (m *machine) Settings(context.Context) ([]web.Setting, error) {
	all := m.folderSettings()
	for _, v := range effective(m.settings) {
		all = append(all, web.Setting{Group: groupOf(v.Key), Key: v.Key, Value: v.Text, Origin: v.Origin})
	}
	return append(all, projectSettings(m.settings)...), nil
}

// effective returns the settings that count, with the workspaces and the mode that were
// chosen while they were read.
func effective(s *setup.Settings) []config.Value {
	all := s.Config.Values()
	for i, v := range all {
		switch {
		case v.Key == "workspaces" && len(s.Workspaces.Folders) > 0:
			all[i].Text = strings.Join(s.Workspaces.Folders, ", ")
			if !s.Workspaces.Named {
				all[i].Origin = "the folder in which the server was started"
			}
		case v.Key == "policy.mode" && string(s.Sandboxes.Rules.Mode) != v.Text:
			all[i].Text, all[i].Origin = string(s.Sandboxes.Rules.Mode), projectFile(s)
		}
	}
	return all
}

// projectFile returns the path of the workspace's own file.
func projectFile(s *setup.Settings) string {
	return filepath.Join(s.Workspaces.Folders[0], config.ProjectFile)
}

// folderSettings returns the files and folders of the program, and whether clients need a
// token.
func (m *machine) folderSettings() []web.Setting {
	s := m.settings
	const group = "Files"
	chosen := func(variable, otherwise string) string {
		if os.Getenv(variable) != "" {
			return variable
		}
		return otherwise
	}
	cache, _ := setup.CacheDir() // doctor says why there is none
	token := web.Setting{Group: group, Key: "token of clients", Value: "not set", Origin: "default"}
	if os.Getenv(endpoint.TokenVariable) != "" {
		token.Value, token.Origin = "set", endpoint.TokenVariable
	}
	file := web.Setting{Group: group, Key: "configuration", Value: cmp.Or(s.File, "none"), Origin: "default"}
	if given := []string{s.Flags.Config}; given[0] != "" {
		file.Origin = setup.SetBy("--config", given)
	}
	return []web.Setting{
		file,
		{Group: group, Key: "installed skills", Value: cmp.Or(s.Roots.Data, "none"), Origin: chosen("XDG_DATA_HOME", "default")},
		{Group: group, Key: "record and decisions", Value: cmp.Or(s.Store.File(), "none"), Origin: chosen("XDG_STATE_HOME", "default")},
		{Group: group, Key: "cache", Value: cmp.Or(cache, "none"), Origin: chosen("XDG_CACHE_HOME", "default")},
		token,
	}
}

// projectSettings returns what the workspace's own file adds.
func projectSettings(s *setup.Settings) (all []web.Setting) {
	p := s.Workspaces.Project
	if p == nil {
		return nil
	}
	add := func(key string, values []string) {
		if len(values) > 0 {
			all = append(all, web.Setting{Group: "The workspace's own file", Key: key, Value: strings.Join(values, ", "), Origin: projectFile(s)})
		}
	}
	add("skills", p.Skills)
	add("plugins", p.Plugins)
	add("policy.deny", p.Policy.Deny)
	add("policy.skills", slices.Sorted(maps.Keys(p.Policy.Skills)))
	return all
}

// groupOf returns the title of the group of a key.
func groupOf(key string) string {
	first, _, _ := strings.Cut(key, ".")
	switch first {
	case "skills", "plugins", "roots", "scan", "workspaces":
		return "Skills and workspaces"
	case "images", "sandbox":
		return "Sandbox"
	case "expose", "search":
		return "Tools and search"
	case "policy":
		return "Policy"
	case "serve", "notify":
		return "Serving"
	case "tools":
		return "More tools"
	case "install":
		return "Installing"
	case "record":
		return "Record"
	}
	return "Provided features"
}
