package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// declared returns the packages that the skill in the folder dir declares for a
// command line: an interpreter, and after it the script.
func declared(dir string, argv []string) ([]dependencies.Declared, error) {
	fsys := skillfs.DirFS(dir)
	for _, word := range argv[1:] {
		name := path.Clean(word)
		if !fs.ValidPath(name) {
			continue
		}
		if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
			return dependencies.Find(fsys, name, argv)
		}
	}
	return nil, nil
}

// required are the packages that a sandbox has to install for a command.
func required(skill *skills.Skill, dir string, argv []string) ([]sandbox.Dependencies, error) {
	var launch *dependencies.Launch
	if to := skill.Entry.Server; to != nil {
		launch, _ = dependencies.ParseLaunch(to.Server.Argv) // one that is refused is no call
	}
	var found []dependencies.Declared
	var err error
	if launch != nil {
		found = []dependencies.Declared{launch.Declared}
	} else if found, err = declared(dir, argv); err != nil {
		return nil, &Error{Code: Unavailable, Message: fmt.Sprintf("the packages that skill %s declares cannot be installed: %v", skill.QualifiedName(), err), Retryable: false, Err: err}
	}
	var all []sandbox.Dependencies
	for _, d := range found {
		one := sandbox.Dependencies{Kind: d.Kind, Digest: d.Digest, Packages: d.Packages}
		for _, file := range d.Lock {
			one.Lock = append(one.Lock, sandbox.File(file))
		}
		all = append(all, one)
	}
	return all, nil
}

// missing says which packages a skill that failed may have missed; "" where it
// declares none.
func missing(dir string, argv []string) string {
	const remedy = "nothing of it is installed here, and that may be why; a person can change that with the setting sandbox.dependencies: build"
	found, err := declared(dir, argv)
	var refused *dependencies.Error
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("it declares packages in %s: %s", refused.File, remedy)
	case len(found) == 0:
		return ""
	}
	return fmt.Sprintf("it declares %s: %s", dependencies.Summary(found), remedy)
}
