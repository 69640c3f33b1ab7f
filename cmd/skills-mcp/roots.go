package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	colonysamples "github.com/skillsmcp/skills-mcp/plugins/colony-samples"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// roots are the folders to scan, highest priority first.
func (s *settings) roots() []scan.Root {
	var roots []scan.Root
	// A workspace may be a stranger's, so nothing in it leads out of it; its
	// owner trusts all other folders.
	all := func(source skills.Source, dir, within string) {
		roots = append(roots,
			scan.Root{Source: source, Dir: filepath.Join(dir, "skills"), Within: within},
			scan.Root{Source: source, Dir: filepath.Join(dir, "plugins"), Within: within, Plugins: true})
		if filepath.Base(dir) == ".claude" {
			roots = append(roots,
				scan.Root{Source: source, Dir: filepath.Join(dir, "commands"), Within: within, Commands: true},
				scan.Root{Source: source, Dir: filepath.Join(dir, "agents"), Within: within, Agents: true})
		}
	}
	if s.Roots.Session {
		for _, workspace := range s.workspaces {
			for _, name := range []string{".colony", ".claude", ".agents"} {
				all(skills.SourceSession, filepath.Join(workspace, name), workspace)
			}
			for _, name := range []string{".github", ".gemini", ""} {
				roots = append(roots, scan.Root{Source: skills.SourceSession, Dir: filepath.Join(workspace, name, "skills"), Within: workspace})
			}
		}
	}
	if s.Roots.User && s.home != "" {
		for _, name := range []string{".colony", ".claude", ".agents", ".openclaw"} {
			all(skills.SourceUser, filepath.Join(s.home, name), "")
		}
		for _, name := range []string{".copilot", ".gemini", ".codex", ".conduit"} {
			roots = append(roots, scan.Root{Source: skills.SourceUser, Dir: filepath.Join(s.home, name, "skills")})
		}
	}
	if s.Roots.System && runtime.GOOS != "windows" {
		all(skills.SourceSystem, "/etc/colony", "")
		all(skills.SourceSystem, "/etc/skills-mcp", "")
		for _, dir := range append([]string{"/etc/ongrid/skills"}, s.ongrid...) {
			roots = append(roots, scan.Root{Source: skills.SourceSystem, Dir: dir, Ongrid: true})
		}
	}
	if s.project != nil {
		for _, dir := range s.project.Skills {
			roots = append(roots, scan.Root{Source: skills.SourceExtra, Dir: dir, Within: s.workspaces[0]})
		}
		for _, dir := range s.project.Plugins {
			roots = append(roots, scan.Root{Source: skills.SourceExtra, Dir: dir, Within: s.workspaces[0], Plugins: true})
		}
	}
	for _, dir := range s.Skills {
		roots = append(roots, scan.Root{Source: skills.SourceExtra, Dir: dir})
	}
	for _, dir := range s.Plugins {
		roots = append(roots, scan.Root{Source: skills.SourceExtra, Dir: dir, Plugins: true, Named: true})
	}
	if s.Roots.Samples {
		roots = append(roots, scan.Root{Source: skills.SourceExtra, FS: colonysamples.FS(), Label: "bundled:colony-samples", Plugins: true})
	}
	return roots
}

// ongridVariable has the folders that ongrid looks for skills in.
const ongridVariable = "ONGRID_SKILLS_EXTERNAL_DIRS"

// ongridFolders are the folders of a list, separated by commas or colons. Relative
// ones start from folder.
func ongridFolders(list, folder string) []string {
	var folders []string
	for _, dir := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ':' }) {
		if dir = strings.TrimSpace(dir); dir != "" {
			folders = append(folders, absolutePath(folder, dir))
		}
	}
	return folders
}

// watched are the host folders of the roots.
func (s *settings) watched() []string {
	var dirs []string
	for _, root := range s.roots() {
		if root.Dir != "" {
			dirs = append(dirs, root.Dir)
		}
	}
	return dirs
}

// defaultWorkspace returns folder as the only workspace, or none where nobody
// means to show it to skills: desktop clients start servers in /, in the home
// folder, in a folder of the system's or in a temporary one. A project in a
// temporary folder is one all the same.
func defaultWorkspace(folder, home, temporary string) []string {
	if folder == filepath.Dir(folder) || home != "" && within(folder, home) {
		return nil
	}
	system := []string{
		"/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/var",
		"/System", "/Library", "/Applications", os.Getenv("SystemRoot"), os.Getenv("ProgramFiles"),
	}
	if within(temporary, folder) {
		if !hasProject(folder) {
			return nil
		}
		return []string{folder}
	}
	for _, dir := range system {
		if dir != "" && within(dir, folder) {
			return nil
		}
	}
	return []string{folder}
}

// hasProject reports whether a folder looks like the top of a project.
func hasProject(folder string) bool {
	for _, name := range []string{
		".git", ".hg", ".claude", ".colony", ".agents", "go.mod", "package.json", "pyproject.toml", "setup.py",
		"requirements.txt", "Cargo.toml", "pom.xml", "build.gradle", "Gemfile", "composer.json", "Makefile",
	} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return true
		}
	}
	return false
}

// within reports whether name is dir or below it.
func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
