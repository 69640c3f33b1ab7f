package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/schema"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// arguments returns the arguments of a request, validated, with defaults and
// absolute paths.
func arguments(r *Request, workspaces []string, none func(so string) string) (map[string]any, error) {
	entry := r.Skill.Entry
	undeclared, err := schema.Undeclared(entry, r.Args) // a default is not given
	args := entry.Defaults(r.Args)
	if err == nil {
		err = schema.Validate(entry, args)
	}
	if err != nil {
		return nil, invalid("%v", err)
	}
	if len(undeclared) > 0 && r.Warn != nil {
		r.Warn(fmt.Sprintf("%s has no parameter %s; it is passed on as it is", r.Skill.QualifiedName(), quoted(undeclared)))
	}
	for _, p := range entry.Params() {
		value, ok := args[p.Name].(string)
		if !p.Path || !ok {
			continue
		}
		if r.Parent != "" && inSkill(value) {
			return nil, invalid("%q: a skill cannot name files of one that it calls, and %s is the folder of that one", p.Name, sandbox.SkillDir)
		}
		resolved, err := resolvePath(value, r.Folder, workspaces, none)
		if err != nil {
			return nil, invalid("%q: %v", p.Name, err)
		}
		args[p.Name] = resolved
	}
	return args, nil
}

// resolvePath returns the absolute path of a file that the sandbox mounts.
func resolvePath(value, folder string, workspaces []string, none func(so string) string) (string, error) {
	if inSkill(value) {
		return path.Clean(value), nil
	}
	if len(workspaces) == 0 {
		return "", errors.New(none(", so no file can be named"))
	}
	if value == sandbox.WorkspaceDir || strings.HasPrefix(path.Clean(value), sandbox.WorkspaceDir+"/") {
		return path.Clean(value), nil
	}
	absolute := filepath.Clean(value)
	if !filepath.IsAbs(absolute) {
		absolute = filepath.Join(cmp.Or(folder, workspaces[0]), absolute)
	}
	if inAny(workspaces, absolute) {
		return absolute, nil
	}
	// The name that the person knows may lead into a workspace by a link.
	if real, err := filepath.EvalSymlinks(absolute); err == nil && inAny(workspaces, real) {
		return real, nil
	}
	return "", fmt.Errorf("%s is in no workspace; the workspaces are %s (a person can add one with --workspace)", absolute, strings.Join(workspaces, ", "))
}

// inSkill reports whether a path is in the folder of the skill that runs.
func inSkill(value string) bool {
	return value == sandbox.SkillDir || strings.HasPrefix(path.Clean(value), sandbox.SkillDir+"/")
}

func inAny(dirs []string, name string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return skillfs.Inside(dir, name) })
}

func quoted(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = strconv.Quote(name)
	}
	return strings.Join(all, ", ")
}

// argv returns the command line: the interpreter, the script and its arguments.
func argv(script string, interpreter, words []string) []string {
	if len(interpreter) == 0 || strings.HasPrefix(script, "-") {
		script = "./" + script // a file of the folder: no program of PATH, and no option
	}
	return slices.Concat(interpreter, []string{script}, words)
}

// script returns the path of a skill's script below its folder, and the interpreter
// that runs it.
func script(skill *skills.Skill, args map[string]any) (name string, interpreter []string, err error) {
	entry := skill.Entry
	if len(entry.Placeholders()) == 0 {
		return path.Clean(entry.Script), entry.Interpreter, nil
	}
	var bad error
	name = entry.ExpandScript(func(param string) string {
		text, err := skills.Render(args[param], "")
		switch {
		case args[param] == nil:
			bad = invalid("missing required parameter %q", param)
		case err != nil || text == "" || strings.ContainsAny(text, "/\\\x00") || strings.Contains(text, ".."):
			bad = invalid("%q must be a plain name, without / and ..", param)
		}
		return text
	})
	if bad != nil {
		return "", nil, bad
	}
	interpreter, err = infer.InterpreterOf(skill, name)
	if err != nil {
		reason := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			reason = "there is no such script"
		}
		return "", nil, invalid("%s: %s", name, reason)
	}
	return path.Clean(name), interpreter, nil
}
