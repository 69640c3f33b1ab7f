package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/secrets"
)

// Models returns the models of the configuration, by name.
func (s *Settings) Models() map[string]*agents.Model {
	all := map[string]*agents.Model{}
	for name, m := range s.Config.Agents.Models {
		client := chat.New(chat.Options{URL: m.URL, API: m.API, Model: m.Model, Key: modelKey(s.Secrets.Store, m.Key)})
		all[name] = &agents.Model{Name: name, Client: client, Window: m.Window, MaxTokens: m.MaxTokens, Price: m.Price}
	}
	return all
}

// modelKey returns a function that reads the key of an endpoint: a secret of the person of
// this machine, whoever spawns. nil is none.
func modelKey(kept *secrets.Store, name string) func(context.Context) (string, error) {
	if name == "" {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		value, err := kept.Value(ctx, "", name, false)
		if errors.Is(err, secrets.ErrNone) {
			return "", fmt.Errorf("the key of the model has no value; skills-mcp secret set %s sets it", name)
		}
		return value, err
	}
}

// AgentProblem returns why no session can have an agent, or why one can do nothing, or "".
func (s *Settings) AgentProblem(role *agents.Role) string {
	c := &s.Config.Agents
	name := cmp.Or(role.Model, c.Default())
	switch key := c.Models[name].Key; {
	case role.Untrusted:
		return "it is of a workspace that you do not trust"
	case len(c.Models) == 0:
		return "no model is configured (agents.models)"
	case c.Missing(role.Model) != "":
		return c.Missing(role.Model)
	case key != "" && !s.Secrets.Store.Has("", key):
		return fmt.Sprintf("the model %s has no key: skills-mcp secret set %s", name, key)
	case role.Profile.Allow != nil && role.AllowAgents != nil && len(role.Profile.Allow)+len(role.AllowAgents) == 0 && len(role.Notes) > 0:
		return "it can do nothing: none of its tools is a skill"
	}
	return ""
}
