package call

import (
	"fmt"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// grant decides whether a skill may be called, and what its sandbox gets.
//
// Only safe skills run without a person's word. Whoever calls a skill on the
// command line has given it; a model's call of another class is refused until
// there is a way to ask, and so is a client's, which may be one in disguise.
func (x *Executor) grant(skill *skills.Skill, r Request) (sandbox.Grant, error) {
	name, person := skill.QualifiedName(), r.Person
	if !person && !r.Picked && !skill.ModelInvocable {
		message := fmt.Sprintf("skill %s may be called by a person only", name)
		if skill.Entry != nil {
			message += "; ask them to run: skills-mcp run " + name
		}
		return sandbox.Grant{}, &Error{PermissionDenied, message, false, nil}
	}
	hosts, err := x.Hosts(skill)
	if err != nil {
		return sandbox.Grant{}, err
	}
	if skill.Class == skills.Safe {
		return sandbox.Grant{Workspaces: x.options.Workspaces}, nil
	}
	if !person {
		return sandbox.Grant{}, &Error{ApprovalRequired, fmt.Sprintf("skill %s is %s, so a person has to start it; ask them to run: skills-mcp run %s", name, skill.Class, name), false, nil}
	}
	return sandbox.Grant{Workspaces: x.options.Workspaces, Write: true, Hosts: hosts}, nil
}
