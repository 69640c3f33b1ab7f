package agents

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A Model is a model at an endpoint, which sessions work with.
type Model struct {
	Name   string // of the configuration
	Client interface {
		Complete(ctx context.Context, r chat.Request) (*chat.Reply, error)
	}
	// Window is the number of tokens that a request and its reply may have together; 0 is
	// 128,000. MaxTokens bounds a reply; 0 is 4,096.
	Window, MaxTokens int
	Price             Price
}

// A Price is in money for a million tokens.
type Price struct {
	Input  float64 `yaml:"input"`
	Output float64 `yaml:"output"`
}

// A Hook tells plugins of an event in the session of who, and returns the text of a field as
// they leave it. It may change fields.
type Hook func(ctx context.Context, who identity.Principal, event, field string, fields map[string]any) string
