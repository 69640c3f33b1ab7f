package scan

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// markdown calls visit for each Markdown file of a plugin's commands or agents:
// those that the manifest names, or those at and below the folder what. name is
// the file's path there, without its extension.
func (s *scanner) markdown(dir, what string, named []string, report manifest.Report, visit func(file, name string)) {
	if named == nil {
		standard := path.Join(dir, what)
		if info, err := fs.Stat(s.root.FS, standard); err == nil && info.IsDir() {
			s.markdownIn(dir, standard, "", 0, visit)
		}
		return
	}
	for _, name := range named {
		real, ok := s.inside(dir, what, name, report)
		if !ok {
			continue
		}
		if info, err := fs.Stat(s.root.FS, real); err == nil && info.IsDir() {
			s.markdownIn(dir, real, "", 0, visit)
		} else if stem, ok := markdownName(path.Base(real)); ok {
			visit(real, stem)
		} else {
			report(skills.Error, manifest.Position{}, "name a folder, or a file that ends with .md", "the %s path %q is no Markdown file", what, name)
		}
	}
}

func (s *scanner) markdownIn(plugin, dir, prefix string, depth int, visit func(file, name string)) {
	if s.ctx.Err() != nil || depth > s.options.Depth || !s.count(dir) {
		return
	}
	entries, err := fs.ReadDir(s.root.FS, dir)
	if err != nil {
		s.reject(s.display(dir), err)
		return
	}
	for _, entry := range entries {
		file := path.Join(dir, entry.Name())
		stem, isMarkdown := markdownName(entry.Name())
		switch {
		case Skip(entry.Name()):
		case entry.IsDir():
			s.markdownIn(plugin, file, prefix+entry.Name()+"/", depth+1, visit)
		case isMarkdown:
			if real := s.real(plugin, file, entry); real != "" {
				visit(real, prefix+stem)
			}
		}
	}
}

// markdownName returns the name of a Markdown file without its extension. What a
// folder says of itself is none.
func markdownName(name string) (stem string, ok bool) {
	stem, ok = strings.CutSuffix(name, ".md")
	return stem, ok && stem != "" && !strings.EqualFold(stem, "README")
}

// real returns the path of a file of a plugin with links followed, or "" for one
// that is not in the plugin.
func (s *scanner) real(plugin, file string, entry fs.DirEntry) string {
	if entry.Type().IsRegular() {
		return file
	}
	if entry.Type()&fs.ModeSymlink == 0 {
		return ""
	}
	below := file
	if plugin != "." {
		below = strings.TrimPrefix(file, plugin+"/")
	}
	real, err := skillfs.Resolve(skillfs.Sub(s.root.FS, plugin), s.host(plugin), below)
	if errors.Is(err, skillfs.ErrLeaves) {
		s.problem(skills.Problem{Severity: skills.Warning, Path: s.display(file), Message: "the link leads out of its plugin, or folder, and was not followed", Remedy: "put a file there"})
	}
	if err != nil {
		return ""
	}
	return path.Join(plugin, real)
}
