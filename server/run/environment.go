package run

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// environment is what a script can learn about its call, and what it wants and is
// granted. Code of no skill has neither a skill nor args.
func (x *Executor) environment(skill *skills.Skill, caller, runID string, args map[string]any) []string {
	if skill == nil || skill.Entry == nil || args == nil {
		return x.about(skill, runID, nil)
	}
	var env []string
	switch skill.Entry.Context {
	case skills.ContextNone:
	case skills.ContextLinX:
		env = append(x.about(skill, runID, args), "LINX_AGENT_ID=", "LINX_USER_ID=", "LINX_SESSION_ID="+session(caller))
	default:
		env = x.about(skill, runID, args)
	}
	return append(env, x.granted(skill)...)
}

// session names a caller to a script. Who knows the caller's own name could take
// it for theirs.
func session(caller string) string {
	sum := sha256.Sum256([]byte(caller))
	return hex.EncodeToString(sum[:8])
}

// about are the variables that every script finds.
func (x *Executor) about(skill *skills.Skill, runID string, args map[string]any) []string {
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
	// Arguments that are too long for one variable still reach the script.
	if params, err := skills.Render(args, ""); err == nil && len("SKILL_PARAMS=")+len(params) <= skills.MaxWord {
		env = append(env, "SKILL_PARAMS="+params)
	}
	return env
}

// variableNames cuts the values off.
func variableNames(env []string) []string {
	names := make([]string, len(env))
	for i, variable := range env {
		names[i], _, _ = strings.Cut(variable, "=")
	}
	return names
}

// granted are the variables that a skill wants, or cannot do without, and the
// configuration grants.
func (x *Executor) granted(skill *skills.Skill) []string {
	var env []string
	if skill.Workspace != "" {
		return nil
	}
	for _, variable := range x.options.Env {
		name, _, _ := strings.Cut(variable, "=")
		if slices.Contains(skill.Entry.Env, name) || slices.Contains(skill.Requires.Env, name) {
			env = append(env, variable)
		}
	}
	return env
}
