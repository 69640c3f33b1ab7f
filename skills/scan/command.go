package scan

import (
	"path"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// commands takes down the commands of a plugin: Markdown files, each of which is
// an instruction skill named after its file, as Claude Code does it: that of
// commands/db/migrate.md is db:migrate.
func (s *scanner) commands(dir string, m *manifest.Plugin, report manifest.Report) {
	s.markdown(dir, "commands", m.Commands, report, s.command)
}

// command takes down that there is a command in a file.
func (s *scanner) command(file, name string) {
	folder := path.Dir(file)
	skill := &skills.Skill{Dir: s.host(folder), File: s.display(file), Files: skillfs.Sub(s.root.FS, folder)}
	s.take(s.host(file), &candidate{skill: skill, dir: folder, held: s.held, file: path.Base(file), folder: manifest.CommandName(name), command: true})
}
