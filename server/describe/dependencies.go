package describe

import (
	"errors"
	"path"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Dependencies returns the packages that a skill declares, or why they cannot be
// installed. A skill whose script depends on arguments has no script to look into
// yet, so that only files beside it count.
func Dependencies(skill *skills.Skill) ([]dependencies.Declared, *skills.Problem) {
	if skill.Entry == nil {
		return nil, nil
	}
	if to := skill.Entry.Server; to != nil {
		if launch, _ := dependencies.ParseLaunch(to.Server.Argv); launch != nil {
			return []dependencies.Declared{launch.Declared}, nil
		}
	}
	files, release, err := skillfs.Hold(skill.Files)
	if err != nil {
		return nil, nil // loading has reported it
	}
	defer release()
	found, err := dependencies.Find(files, path.Clean(skill.Entry.Script), skill.Entry.Interpreter)
	var refused *dependencies.Error
	if errors.As(err, &refused) {
		return nil, &skills.Problem{
			Severity: skills.Warning, Path: filepath.Join(filepath.Dir(skill.File), filepath.FromSlash(refused.File)), Line: refused.Line,
			Message: refused.Message, Remedy: refused.Remedy,
		}
	}
	return found, nil
}
