package server

import (
	"slices"
	"testing"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A reader is a session of a principal, with its subscriptions.
type reader struct {
	mcpserver.SessionWithResourceSubscriptions
	who  identity.Principal
	uris []string
}

func (s reader) Principal() identity.Principal { return s.who }
func (s reader) SubscribedResources() []string { return s.uris }

// A resource of a principal's server is told to that principal's sessions alone.
func TestSubscribersOfPrincipal(t *testing.T) {
	ann, ben := identity.Principal{Kind: identity.Model, Session: "ann"}, identity.Principal{Kind: identity.Model, Session: "ben"}
	s := &subscriptions{sessions: map[string]mcpserver.SessionWithResourceSubscriptions{
		"1": reader{who: ann, uris: []string{"plugin://p/s/a:b", "plugin://p/s/a:c"}}, "2": reader{who: ann, uris: []string{"plugin://p/s/a:b"}},
		"3": reader{who: ben, uris: []string{"plugin://p/s/a:b"}},
	}}
	both := s.of(ann.Key(), "plugin://p/s/a:b")
	slices.Sort(both)
	if one, none := s.of(ann.Key(), "plugin://p/s/a:c"), s.of(ben.Key(), "plugin://p/s/a:c"); !slices.Equal(both, []string{"1", "2"}) || !slices.Equal(one, []string{"1"}) || none != nil {
		t.Errorf("%v, %v, %v", both, one, none)
	}
}
