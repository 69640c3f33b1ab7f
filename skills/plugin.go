package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"gopkg.in/yaml.v3"
)

// manifests are where a plugin's manifest may be, in its folder.
var manifests = [...]string{".claude-plugin/plugin.json", "plugin.json"}

// findManifest returns the path of the manifest in a folder, or "".
func findManifest(fsys fs.FS, dir string) string {
	for _, name := range manifests {
		at := path.Join(dir, name)
		if info, err := fs.Stat(fsys, at); err == nil && info.Mode().IsRegular() {
			return at
		}
	}
	return ""
}

// A manifest is what plugin.json says.
type manifest struct {
	plugin *Plugin
	// skills are folders of more skills, beside skills/.
	skills []string
	node   *yaml.Node
}

// parseManifest reads a plugin.json. plugin comes with what is known of its
// place. A key of a wrong type is a problem of that key, not of the plugin.
func parseManifest(data []byte, plugin *Plugin, folder string, report func(Severity, int, string, string, ...any)) (*manifest, error) {
	node, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if node.Kind != yaml.MappingNode {
		return nil, reject(1, `write an object with a "name"`, "it is not a JSON object")
	}
	f := newFields(node, 0, report)
	plugin.Name = cleanName(f.text("name"))
	if plugin.Name == "" {
		plugin.Name = cleanName(folder)
		report(Warning, 0, `add "name"`, "the plugin has no name; its folder's is used: %q", plugin.Name)
	}
	if plugin.Name == "" {
		return nil, reject(0, `add "name"`, "the plugin has no name")
	}
	plugin.Version = f.text("version")
	plugin.Description = f.text("description")
	plugin.Author = author(f)
	return &manifest{plugin, f.words("skills", func(s string) []string { return []string{s} }), node}, nil
}

// author reads a name, or a map with a name.
func author(f fields) string {
	if n := f.get("author"); n != nil && n.Kind == yaml.MappingNode {
		return newFields(n, f.offset, f.report).text("name")
	}
	return f.text("author")
}

// plugin loads the plugin in the folder dir of a root: its manifest, then its
// skills.
func (s *scanner) plugin(dir, manifestPath string) {
	file := s.display(manifestPath)
	report := func(severity Severity, line int, remedy, format string, args ...any) {
		s.problem(Problem{severity, file, line, 0, fmt.Sprintf(format, args...), remedy})
	}
	data, err := readFile(s.root.FS, manifestPath, maxManifest)
	if err != nil {
		s.reject(file, err)
		return
	}
	plugin := &Plugin{Source: s.root.Source, Dir: s.host(dir), File: file}
	before := len(s.builder.problems)
	m, err := parseManifest(data, plugin, s.folderName(dir), report)
	if err != nil {
		s.reject(file, err)
		return
	}
	locate(s.builder.problems[before:], file, m.node, 0)
	if first := s.builder.addPlugin(plugin); first != nil {
		if first.Dir == plugin.Dir && plugin.Dir != "" {
			return // found before, by way of another root
		}
		report(Warning, 0, "rename one of them", "the plugin name %q is taken by %s, so this one is left out", plugin.Name, first.File)
		return
	}
	outer := s.inPlugin
	s.inPlugin = plugin
	defer func() { s.inPlugin = outer }()
	s.pluginSkills(dir, m, report)
}

func (s *scanner) pluginSkills(dir string, m *manifest, report func(Severity, int, string, string, ...any)) {
	standard := path.Join(dir, "skills")
	if info, err := fs.Stat(s.root.FS, standard); err == nil && info.IsDir() {
		s.skills(standard)
	} else if file := findSkillFile(s.root.FS, dir); file != "" {
		s.skill(dir, file, nil)
	}
	for _, extra := range m.skills {
		real, err := resolve(subFS(s.root.FS, dir), s.host(dir), path.Clean(extra))
		switch {
		case errors.Is(err, errLeaves):
			report(Error, 0, "put the skills into the plugin's folder", "the skills path %q leads out of the plugin", extra)
		case err != nil:
			report(Error, 0, "correct the path", "the skills path %q cannot be read: %v", extra, errors.Unwrap(err))
		default:
			s.skills(path.Join(dir, real))
		}
	}
}

func subFS(fsys fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(fsys, dir)
	if err != nil { // dir is valid: it was read from fsys
		panic(err)
	}
	return sub
}
