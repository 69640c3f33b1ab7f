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
	for _, v := range m.settings.Config.Values() {
		all = append(all, effective(m.settings, v))
	}
	return append(all, projectSettings(m.settings)...), nil
}

// effective returns a setting as it counts: the workspaces and the mode were chosen while the
// settings were read.
func effective(s *setup.Settings, v config.Value) web.Setting {
	shown := web.Setting{Group: groupOf(v.Key), Key: v.Key, Value: v.Text, Origin: cmp.Or(v.Origin, "default")}
	switch {
	case v.Key == "workspaces" && len(s.Workspaces.Folders) > 0:
		shown.Value = strings.Join(s.Workspaces.Folders, ", ")
		if !s.Workspaces.Named {
			shown.Origin = "the folder in which the server was started"
		} else if len(s.Flags.Workspaces) > 0 {
			shown.Origin = config.ByCommand
		}
	case v.Key == "policy.mode" && string(s.Sandboxes.Rules.Mode) != v.Text:
		shown.Value, shown.Origin = string(s.Sandboxes.Rules.Mode), projectFile(s)
	}
	return shown
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
	row := func(key, value string, variable string) web.Setting {
		origin := "default"
		if os.Getenv(variable) != "" {
			origin = variable
		}
		return web.Setting{Group: group, Key: key, Value: cmp.Or(value, "none"), Origin: origin}
	}
	cache, _ := setup.CacheDir() // doctor says why there is none
	file, token := row("configuration", s.File, ""), "not set"
	if s.Flags.Config != "" {
		file.Origin = "--config"
	}
	if os.Getenv(endpoint.TokenVariable) != "" {
		token = "set"
	}
	return []web.Setting{
		file,
		row("installed skills", s.Roots.Data, "XDG_DATA_HOME"),
		row("record and decisions", s.Store.Name(), "XDG_STATE_HOME"),
		row("cache", cache, "XDG_CACHE_HOME"),
		row("token of clients", token, endpoint.TokenVariable),
	}
}

// projectSettings returns the settings of the workspace's own file.
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
	case "telemetry":
		return "Telemetry"
	case "record":
		return "Record"
	case "agents":
		return "Agents"
	}
	return "Provided features"
}
