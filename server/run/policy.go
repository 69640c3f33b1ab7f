package run

import (
	"fmt"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// grant decides whether a skill may be called, and what its sandbox gets.
//
// Only safe skills run without a person's word, which [Request.Confirm] asks for.
// A model's call of another class is refused until there is a way to ask, and so
// is a client's, which may be one in disguise. The refusals name no command: a
// model that has a shell would run it.
func (x *Executor) grant(skill *skills.Skill, r Request) (sandbox.Grant, error) {
	name, person := skill.QualifiedName(), r.Person
	if !person && !r.Picked && !skill.ModelInvocable {
		return sandbox.Grant{}, &Error{PermissionDenied, fmt.Sprintf("skill %s may be called by a person only; tell them what you would call it for", name), false, nil}
	}
	hosts, err := x.Hosts(skill)
	if err != nil {
		return sandbox.Grant{}, err
	}
	if skill.Class == skills.Safe {
		return sandbox.Grant{Workspaces: x.options.Workspaces}, nil
	}
	switch {
	case r.Confirm != nil:
	case person:
		return sandbox.Grant{}, &Error{ApprovalRequired, fmt.Sprintf("skill %s is %s, so it runs only when a person says yes to it on a terminal, and this is none", name, skill.Class), false, nil}
	default:
		return sandbox.Grant{}, &Error{ApprovalRequired, fmt.Sprintf("skill %s is %s, so only a person can start it, on a terminal of their own; tell them which arguments to give it, and do not try again", name, skill.Class), false, nil}
	}
	return sandbox.Grant{Workspaces: x.options.Workspaces, Write: true, Hosts: hosts}, nil
}
