package main

import (
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/elicit"
)

// approvals returns the approvals of the store. terminal asks the person who runs the
// program; nil asks nobody there.
func (s *settings) approvals(terminal approval.Terminal) *approval.Approvals {
	return approval.New(s.store, &approval.Options{Terminal: terminal, Asking: elicit.Limits(s.Sandbox.Asking), Logger: s.logger})
}
