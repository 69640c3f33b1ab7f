package surface

import (
	"io/fs"
	"path"

	"github.com/skillsmcp/skills-mcp/skills"
)

// folder adds what the files of a skill's folder do.
func (c *collector) folder(_ *skills.Skill, files fs.FS) error {
	return fs.WalkDir(files, ".", func(_ string, _ fs.DirEntry, err error) error { return err })
}

// program returns the name of a program without its folder.
func program(name string) string { return path.Base(name) }
