package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/secrets"
)

// Agents configures the sessions of agents. Without a model there are none.
type Agents struct {
	Models        map[string]Model `yaml:"models"`
	Model         string           `yaml:"model"` // of agents that name none
	Depth         int              `yaml:"depth"` // of sessions that sessions have spawned
	MaxChildren   int              `yaml:"max_children"`
	Timeout       time.Duration    `yaml:"timeout"`
	Keep          time.Duration    `yaml:"keep"` // in memory after the end
	SkillsPerTurn int              `yaml:"skills_per_turn"`
	Budget        agents.Budget    `yaml:"budget"`  // of a session with its descendants
	Channel       bool             `yaml:"channel"` // announce by a channel of Claude Code
	// Define has agents by name, beside the agents of files.
	Define map[string]agents.Agent `yaml:"define"`
}

// A Model is a model at an endpoint.
type Model struct {
	URL       string       `yaml:"url"` // up to the version
	API       chat.API     `yaml:"api"` // "" is [chat.OpenAI]
	Model     string       `yaml:"model"`
	Key       string       `yaml:"key"` // the name of a secret; "" is none
	Window    int          `yaml:"window"`
	MaxTokens int          `yaml:"max_tokens"`
	Price     agents.Price `yaml:"price"`
}

// Default returns the name of the model of agents that name none; "" without models.
func (a *Agents) Default() string {
	if a.Model == "" && len(a.Models) == 1 {
		return a.names()[0]
	}
	return a.Model
}

// names returns the names of the models.
func (a *Agents) names() []string { return slices.Sorted(maps.Keys(a.Models)) }

// Missing returns why no session can have a model of a name, or "".
func (a *Agents) Missing(model string) string {
	switch _, known := a.Models[model]; {
	case known || model == "" || model == agents.Inherit:
		return ""
	case len(a.Models) == 0:
		return fmt.Sprintf("there is no model %q: agents.models is empty", model)
	}
	return fmt.Sprintf("there is no model %q; agents.models has %s", model, strings.Join(a.names(), ", "))
}

func (a *Agents) validate() error {
	for _, name := range a.names() {
		if err := a.Models[name].validate("agents.models." + name); err != nil {
			return err
		}
		if policy.CheckProfileName(name) != nil || name == agents.Inherit {
			return fmt.Errorf("agents.models has %q; name it by letters, digits, dots, - and _, and not inherit", name)
		}
	}
	switch why := a.Missing(a.Model); {
	case why != "":
		return fmt.Errorf("agents.model: %s", why)
	case len(a.Models) > 1 && a.Default() == "", a.Model == agents.Inherit:
		return fmt.Errorf("agents.model is %q; name the model of agents that name none, one of %s", a.Model, strings.Join(a.names(), ", "))
	case a.Timeout > agents.MaxTimeout:
		return fmt.Errorf("agents.timeout is %s; write at most %s", a.Timeout, agents.MaxTimeout)
	case a.Budget.Turns < 0 || a.Budget.Tokens < 0 || a.Budget.Cost < 0:
		return fmt.Errorf("agents.budget has a number below 0; write 0 for no bound")
	case a.Budget.Cost > 0 && len(a.Models) > 0 && !slices.ContainsFunc(a.names(), func(name string) bool { return a.Models[name].Price != agents.Price{} }):
		return fmt.Errorf("agents.budget.cost bounds nothing, as no model has a price; write agents.models.%s.price", a.names()[0])
	}
	for _, name := range slices.Sorted(maps.Keys(a.Define)) {
		d := a.Define[name]
		if policy.CheckProfileName(name) != nil || name == agents.Auto {
			return fmt.Errorf("agents.define has %q; name it by letters, digits, dots, - and _, and not auto", name)
		}
		if err := d.Check("agents.define." + name); err != nil {
			return err
		}
		if why := a.Missing(d.Model); why != "" && len(a.Models) > 0 {
			return fmt.Errorf("agents.define.%s.model: %s", name, why)
		}
	}
	return nil
}

func (m Model) validate(key string) error {
	switch {
	case !isSafe(m.URL): // prompts have what skills return
		return fmt.Errorf("%s.url must be a URL of https, or of http on this machine, such as https://api.example.com/v1", key)
	case m.API != "" && m.API != chat.OpenAI && m.API != chat.Anthropic:
		return fmt.Errorf("%s.api is %q; write %s or %s", key, m.API, chat.OpenAI, chat.Anthropic)
	case m.Model == "":
		return fmt.Errorf("%s.model is empty; write the model's name at the endpoint", key)
	case m.Key != "" && secrets.CheckName(m.Key) != nil:
		return fmt.Errorf("%s.key is no name of a secret; write one such as API_KEY, and set it with skills-mcp secret set API_KEY", key)
	case m.Window < 0 || m.MaxTokens < 0 || m.Price.Input < 0 || m.Price.Output < 0:
		return fmt.Errorf("%s has a number below 0", key)
	case m.Window > 0 && m.MaxTokens >= m.Window:
		return fmt.Errorf("%s.max_tokens is %d, which leaves no room in its window", key, m.MaxTokens)
	}
	return nil
}
