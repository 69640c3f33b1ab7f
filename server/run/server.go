package run

import (
	"cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Servers make the calls of the MCP servers of plugins.
type Servers interface {
	// Call returns the session in which a call of a skill with an Entry.Server runs. Its
	// command is the server's; it has the arguments on standard input, and then the answers
	// to its questions, and prints what a script prints.
	Call(who identity.Principal, skill *skills.Skill) sandbox.Session
	// OnUpdate has a function called, until stop is called, when a resource has changed that a
	// principal has read, with the URI that it has here. It must not wait.
	OnUpdate(changed func(owner identity.Key, uri string)) (stop func())
	// Leave ends the servers of a principal who has left. It does not wait.
	Leave(owner identity.Key)
	// Hook completes the command of a plugin's hook: its placeholders, its variables and its
	// data folder.
	Hook(who identity.Principal, skill *skills.Skill, cmd *sandbox.Command) error
}

// hookArgv returns the command line of a hook, with its placeholders.
func hookArgv(hook *skills.Hook) []string {
	if len(hook.Args) > 0 {
		return append([]string{hook.Runs}, hook.Args...)
	}
	return []string{cmp.Or(hook.Shell, "/bin/sh"), "-c", hook.Runs}
}

// serverOf returns the call to a server that a job makes; nil is none.
func serverOf(j *job) *skills.ServerCall {
	if j.action != ActionSkill || j.skill.Entry == nil {
		return nil
	}
	return j.skill.Entry.Server
}
