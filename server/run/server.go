package run

import (
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
	// Leave ends the servers of a principal who has left. It does not wait.
	Leave(owner identity.Key)
}

// serverOf returns the call to a server that a job makes; nil is none.
func serverOf(j *job) *skills.ServerCall {
	if j.action != ActionSkill || j.skill.Entry == nil {
		return nil
	}
	return j.skill.Entry.Server
}
