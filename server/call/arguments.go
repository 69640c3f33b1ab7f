package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxArgument is the longest single argument or environment variable that
// Linux passes on (MAX_ARG_STRLEN), less its final NUL.
const maxArgument = 128<<10 - 1

func invalid(format string, args ...any) error {
	return &Error{InvalidParam, fmt.Sprintf(format, args...), false, nil}
}

// arguments returns the arguments as the script gets them: checked, with
// defaults, and with paths made absolute.
func (x *Executor) arguments(entry *skills.Entry, r Request) (map[string]any, error) {
	args := entry.Defaults(r.Args)
	if err := entry.Validate(args); err != nil {
		return nil, invalid("%v", err)
	}
	for _, p := range entry.Params {
		value, ok := args[p.Name].(string)
		if !p.Path || !ok {
			continue
		}
		resolved, err := x.path(value, r.Folder)
		if err != nil {
			return nil, invalid("%q: %v", p.Name, err)
		}
		args[p.Name] = resolved
	}
	return args, nil
}

// path makes a path absolute and checks that the sandbox will have it.
func (x *Executor) path(value, folder string) (string, error) {
	if value == sandbox.SkillDir || strings.HasPrefix(path.Clean(value), sandbox.SkillDir+"/") {
		return path.Clean(value), nil
	}
	if len(x.options.Workspaces) == 0 {
		return "", errors.New("there is no workspace, so no file can be named; a person can start the server with --workspace DIR")
	}
	if value == sandbox.WorkspaceDir || strings.HasPrefix(path.Clean(value), sandbox.WorkspaceDir+"/") {
		return path.Clean(value), nil
	}
	absolute := filepath.Clean(value)
	if !filepath.IsAbs(absolute) {
		if folder == "" {
			folder = x.options.Workspaces[0]
		}
		absolute = filepath.Join(folder, absolute)
	}
	for _, workspace := range x.options.Workspaces {
		if within(workspace, absolute) {
			return absolute, nil
		}
	}
	// The name that the person knows may lead into a workspace by a link.
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		for _, workspace := range x.options.Workspaces {
			if within(workspace, real) {
				return real, nil
			}
		}
	}
	return "", fmt.Errorf("%s is in no workspace; the workspaces are %s (a person can add one with --workspace)", absolute, strings.Join(x.options.Workspaces, ", "))
}

func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// argv is the command line: the interpreter, the script, and each argument as
// "--name value" in the manifest's order, undeclared ones last by name.
func argv(skill *skills.Skill, args map[string]any) ([]string, error) {
	script, interpreter, err := script(skill, args)
	if err != nil {
		return nil, err
	}
	argv := append(slices.Clone(interpreter), script)
	types := map[string]string{}
	var names []string
	for _, p := range skill.Entry.Params {
		types[p.Name] = p.Schema.Type
		if _, given := args[p.Name]; given {
			names = append(names, p.Name)
		}
	}
	declared := len(names)
	for name := range args {
		if _, known := types[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names[declared:])
	for _, name := range names {
		option, err := option(name, args[name], types[name])
		if err != nil {
			return nil, err
		}
		argv = append(argv, option...)
	}
	return argv, nil
}

// optionName is what may follow "--". Declared parameters match it already.
var optionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

// option renders one argument. A value that could be read as a flag is joined
// to its name.
func option(name string, value any, declared string) ([]string, error) {
	if !optionName.MatchString(name) {
		return nil, invalid("%q cannot be passed as a parameter; use letters, digits, - and _", name)
	}
	text, err := render(value, declared)
	if err != nil {
		return nil, invalid("%q: %v", name, err)
	}
	if err := checkArgument(name, text, len(name)+len("--=")); err != nil {
		return nil, err
	}
	if strings.HasPrefix(text, "-") {
		return []string{"--" + name + "=" + text}, nil
	}
	return []string{"--" + name, text}, nil
}

// checkArgument refuses a text that no program can be passed, with more bytes
// before it.
func checkArgument(name, text string, more int) error {
	switch {
	case strings.ContainsRune(text, 0):
		return invalid("%q contains a NUL character, which no program can be passed; leave it out", name)
	case len(text)+more > maxArgument:
		return invalid("%q is %d bytes long, more than the %d that a program can be passed; put it into a file of the workspace and pass its path", name, len(text), maxArgument)
	}
	return nil
}

// render writes a value as the script sees it: text as it is, anything else as
// JSON prints it. A declared integer loses its fraction of zero (3.0).
func render(value any, declared string) (string, error) {
	if text, ok := value.(string); ok {
		return text, nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if declared == "integer" {
		if r, ok := new(big.Rat).SetString(text); ok && r.IsInt() {
			return r.Num().String(), nil
		}
	}
	return text, nil
}

// script returns the path of the script below the skill's folder, and the
// command that it is passed to.
func script(skill *skills.Skill, args map[string]any) (name string, interpreter []string, err error) {
	entry := skill.Entry
	if len(entry.Placeholders()) == 0 {
		return path.Clean(entry.Script), entry.Interpreter, nil
	}
	var bad error
	name = entry.ExpandScript(func(param string) string {
		text, err := render(args[param], "")
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
	interpreter, err = skill.InterpreterOf(name)
	if err != nil {
		reason := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			reason = "there is no such script"
		}
		return "", nil, invalid("%s: %s", name, reason)
	}
	return path.Clean(name), interpreter, nil
}

// environment is what a script can learn about its call. Code of no skill has
// neither a skill nor args.
func (x *Executor) environment(skill *skills.Skill, runID string, args map[string]any) []string {
	var env []string
	if skill != nil {
		env = append(env, "SKILL_NAME="+skill.QualifiedName())
	}
	env = append(env, "SKILL_RUN_ID="+runID)
	if len(x.options.Workspaces) > 0 {
		env = append(env, "SKILL_WORKSPACE="+x.options.Workspaces[0])
	}
	if args == nil {
		return env
	}
	// Arguments that are too long for one variable are still on the command line.
	if params, err := render(args, ""); err == nil && len("SKILL_PARAMS=")+len(params) <= maxArgument {
		env = append(env, "SKILL_PARAMS="+params)
	}
	return env
}
