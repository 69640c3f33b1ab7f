package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/agents"
)

func TestAgents(t *testing.T) {
	c, err := Parse([]byte(`agents:
  models:
    big: {url: "https://api.example.com/v1", api: anthropic, model: big-1, key: BIG_KEY, window: 200000, max_tokens: 8192, price: {input: 3, output: 15}}
    local: {url: "http://127.0.0.1:11434/v1", model: small}
  model: local
  max_children: 3
  timeout: 90s
  budget: {turns: 7}
  define:
    reviewer: {description: Reviews., prompt: "You review: secret-looking text", tools: [report], disallowed_tools: [deploy], model: big, permission_mode: dual-sign, allow_agents: [], max_children: 2, skills: [style]}
`), "config.yaml", "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	want := Agents{
		Models: map[string]Model{
			"big":   {"https://api.example.com/v1", "anthropic", "big-1", "BIG_KEY", 200000, 8192, agents.Price{Input: 3, Output: 15}},
			"local": {URL: "http://127.0.0.1:11434/v1", Model: "small"},
		},
		Model: "local", Depth: 2, MaxChildren: 3, Timeout: 90 * time.Second, Keep: time.Hour, SkillsPerTurn: 2, Budget: agents.Budget{Turns: 7, Tokens: 1_000_000},
		Define: map[string]agents.Agent{"reviewer": {
			Description: "Reviews.", Prompt: "You review: secret-looking text", Tools: []string{"report"}, DisallowedTools: []string{"deploy"}, Model: "big", PermissionMode: "dual-sign",
			AllowAgents: []string{}, MaxChildren: 2, Skills: []string{"style"},
		}},
	}
	if diff := cmp.Diff(want, c.Agents); diff != "" {
		t.Error(diff)
	}
	one := Agents{Models: map[string]Model{"only": {}}}
	if one.Default() != "only" || c.Agents.Default() != "local" || (&Agents{}).Default() != "" {
		t.Error("the defaults are others")
	}
	for _, v := range c.Values() {
		if v.Key == "agents.define.reviewer.prompt" && v.Text != "…" {
			t.Errorf("the settings show %q", v.Text)
		}
	}
}

func TestAgentsRefuses(t *testing.T) {
	const a = `{url: "https://a.example/v1", model: m}`
	const url = "agents.models.a.url must be a URL of https, or of http on this machine, such as https://api.example.com/v1"
	checkRefusals(t, map[string]string{
		"agents: {modles: {}}":                                                                     `line 1: unknown key "modles"; did you mean "models"?`,
		"agents: {models: {a: {ur: x}}}":                                                           `line 1: unknown key "ur"; did you mean "url"?`,
		"agents: {models: {a: 5}}":                                                                 `line 1: "5" cannot stand here; write keys with values, such as {key: value}`,
		"agents: {define: {a: {promt: x}}}":                                                        `line 1: unknown key "promt"; did you mean "prompt"?`,
		"agents: {define: {a: x}}":                                                                 `line 1: "x" cannot stand here; write keys with values, such as {key: value}`,
		"agents: {define: {a: {prompt: x, tools: report}}}":                                        `line 1: "report" cannot stand here; write a list, such as [a, b]`,
		"agents: {budget: {turn: 1}}":                                                              `line 1: unknown key "turn"; did you mean "turns"?`,
		"agents: {models: {a: {model: m}}}":                                                        url,
		`agents: {models: {a: {url: "http://api.example.com/v1", model: m}}}`:                      url,
		`agents: {models: {a: {url: "http://10.1.2.3/v1", model: m}}}`:                             url,
		`agents: {models: {a: {url: "https://ann:pw@a.example/v1", model: m}}}`:                    url,
		`agents: {models: {a: {url: "https://a.example/v1?key=k", model: m}}}`:                     url,
		`agents: {models: {a: {url: "https://a.example/v1"}}}`:                                     "agents.models.a.model is empty; write the model's name at the endpoint",
		`agents: {models: {a: {url: "https://a.example/v1", model: m, api: x}}}`:                   `agents.models.a.api is "x"; write openai or anthropic`,
		`agents: {models: {a: {url: "https://a.example/v1", model: m, key: sk-123}}}`:              "agents.models.a.key is no name of a secret; write one such as API_KEY, and set it with skills-mcp secret set API_KEY",
		`agents: {models: {a: {url: "https://a.example/v1", model: m, window: -1}}}`:               "agents.models.a has a number below 0",
		`agents: {models: {a: {url: "https://a.example/v1", model: m, window: 9, max_tokens: 9}}}`: "agents.models.a.max_tokens is 9, which leaves no room in its window",
		"agents: {models: {inherit: " + a + "}}":                                                   `agents.models has "inherit"; name it by letters, digits, dots, - and _, and not inherit`,
		"agents: {models: {a: " + a + ", b: " + a + "}}":                                           `agents.model is ""; name the model of agents that name none, one of a, b`,
		"agents: {models: {a: " + a + "}, model: c}":                                               `agents.model: there is no model "c"; agents.models has a`,
		"agents: {model: c}":                                                                       `agents.model: there is no model "c": agents.models is empty`,
		"agents: {depth: 0}":                                                                       "agents.depth is too small; write at least 1",
		"agents: {max_children: 0}":                                                                "agents.max_children is too small; write at least 1",
		"agents: {timeout: 1ms}":                                                                   "agents.timeout is too small; write at least 1s",
		"agents: {timeout: 24h1s}":                                                                 "agents.timeout is 24h0m1s; write at most 24h0m0s",
		"agents: {keep: 0s}":                                                                       "agents.keep is too small; write at least 1s",
		"agents: {skills_per_turn: -1}":                                                            "agents.skills_per_turn is too small; write at least 0",
		"agents: {budget: {cost: 1}, models: {a: " + a + "}}":                                      "agents.budget.cost bounds nothing, as no model has a price; write agents.models.a.price",
		"agents: {budget: {tokens: -1}}":                                                           "agents.budget has a number below 0; write 0 for no bound",
		"agents: {define: {a: {description: x}}}":                                                  "agents.define.a.prompt is empty; write who the agent is",
		"agents: {define: {a: {prompt: x, permission_mode: bypassPermissions}}}":                   `agents.define.a.permission_mode is "bypassPermissions"; write one of plan, confirm, dual-sign, or leave it out`,
		"agents: {define: {a: {prompt: x, max_children: -1}}}":                                     "agents.define.a.max_children is -1; write at least 1, or 0 for the default",
		"agents: {define: {team/a: {prompt: x}}}":                                                  `agents.define has "team/a"; name it by letters, digits, dots, - and _, and not auto`,
		"agents: {define: {auto: {prompt: x}}}":                                                    `agents.define has "auto"; name it by letters, digits, dots, - and _, and not auto`,
		"agents: {models: {a: " + a + "}, define: {b: {prompt: x, model: opus}}}":                  `agents.define.b.model: there is no model "opus"; agents.models has a`,
	})
	if _, err := ParseProject([]byte("agents: {define: {a: {prompt: x}}}"), "/work"); err == nil {
		t.Error("a workspace's own file defines an agent")
	}
}
