package serving

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/integration/modelserver"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/identity/tokens"
)

// trees are the skills that the models of these tests try to load.
var trees = []string{"ash", "birch", "oak"}

// tries is a model that says which trees it can load, whether it may spawn, and what the
// agents that its task names have said, after "then".
func tries(_ context.Context, r *modelserver.Request) modelserver.Reply {
	loaded := func(m chat.Message) bool { return strings.Contains(m.Text, "Grow.") }
	if text, told := strings.CutPrefix(r.Last(), "[Subagent Complete] "); told {
		text, _, _ = strings.Cut(text, "\n") // instructions of skills follow that the result names
		return modelserver.Reply{Text: text}
	}
	if all := r.Results(); len(all) == len(trees) {
		var found []string
		for i, m := range all {
			if loaded(m) {
				found = append(found, trees[i])
			}
		}
		if slices.Contains(r.Tools, agents.SpawnTool) {
			found = append(found, "spawns")
		}
		return modelserver.Reply{Text: strings.Join(found, " ")}
	} else if len(all) > 0 {
		return modelserver.Reply{Text: all[0].Text}
	}
	if _, next, then := strings.Cut(r.Last(), "then "); then {
		args, _ := json.Marshal(map[string]string{"agent_id": next, "task": "look"})
		return modelserver.Reply{Calls: []chat.Call{{Name: agents.SpawnTool, Args: args}}}
	}
	var calls []chat.Call
	for _, tree := range trees {
		calls = append(calls, chat.Call{Name: "load_skill", Args: json.RawMessage(fmt.Sprintf(`{"name":%q}`, tree))})
	}
	return modelserver.Reply{Calls: calls}
}

// serveAgents returns a backend with agents, whose models a script plays.
func serveAgents(t *testing.T, model *modelserver.Server) *Backend {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, filepath.Join(home, strings.ToLower(name)))
	}
	files := map[string]string{
		"config.yaml": fmt.Sprintf(`roots: {system: false, samples: false}
skills: [skills]
sandbox: {driver: native}
policy:
  profiles:
    north: {allow: [ash, birch]}
    south: {deny: [ash]}
agents:
  models:
    small: {url: %[1]q, model: small}
    locked: {url: %[1]q, model: large, key: NO_SUCH_KEY}
  model: small
  define:
    lead: {prompt: You lead., tools: [ash, oak], allow_agents: [worker, lead, thief]}
    worker: {prompt: You work.}
    planner: {prompt: You plan., model: locked}
`, model.URL),
		"project/.git/HEAD":               "ref: refs/heads/main\n",
		"project/.claude/agents/thief.md": "---\nname: thief\ndescription: Steals.\ntools: '*'\n---\nYou steal.\n",
	}
	for _, tree := range trees {
		files["skills/"+tree+"/SKILL.md"] = "---\nname: " + tree + "\ndescription: A tree.\nmetadata: {conduit: {agent: worker}}\n---\nGrow.\n"
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := openSettings(t, setup.Flags{Config: filepath.Join(home, "config.yaml"), Workspaces: []string{filepath.Join(home, "project")}})
	for _, profile := range []string{"north", "south"} { // the subagents of a token that does not count are ended
		if _, err := s.Tokens.Add(t.Context(), tokens.Token{Name: "ci-" + profile, Profiles: []string{profile}}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := NewBackend(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// work returns the end of the session of an agent that a client spawns.
func work(t *testing.T, b *Backend, who identity.Principal, agent, task string) (agents.Announcement, error) {
	t.Helper()
	session, err := b.subagents.Spawn(t.Context(), who, agents.SpawnRequest{Agent: agent, Task: task, Awaited: true})
	if err != nil {
		return agents.Announcement{}, err
	}
	a, received, err := b.subagents.Wait(t.Context(), who, session.RunID)
	if err != nil {
		t.Fatal(err)
	}
	received()
	return a, nil
}

// What an agent can do is bounded by its own definition, by those of all agents above it, and
// by the profile of the client that spawned the first, whoever that is.
func TestAgentsAreBounded(t *testing.T) {
	b := serveAgents(t, modelserver.Start(t, tries))
	model := identity.Principal{Kind: identity.Model, Session: "stdio-1"}
	token := func(profile string) identity.Principal {
		return identity.Principal{Kind: identity.Token, ID: "ci-" + profile, Profile: profile, Session: "http-" + profile, Remote: true}
	}
	for _, test := range []struct {
		who         identity.Principal
		agent, task string
		want        string
	}{
		{model, "worker", "look", "ash birch oak spawns"},
		{model, "lead", "look", "ash oak spawns"},
		{model, "lead", "then worker", "ash oak"}, // which alone could do more, and cannot spawn at this depth
		{model, "worker", "then lead", "ash oak"},
		{model, "auto", "an oak tree", "ash birch oak spawns"},
		{token("north"), "worker", "look", "ash birch spawns"},
		{token("north"), "lead", "look", "ash spawns"},
		{token("north"), "lead", "then worker", "ash"},
		{token("south"), "worker", "look", "birch oak spawns"},
		{token("south"), "lead", "then worker", "oak"},
	} {
		a, err := work(t, b, test.who, test.agent, test.task)
		_, result, told := strings.Cut(a.Summary, "Result: ") // of the agent's agent
		if !told {
			result = a.Summary
		}
		if err != nil || a.Status != agents.Done || result != test.want {
			t.Errorf("%s of %s: %s: %v %+v, want %s", test.agent, test.who.Key(), test.task, err, a, test.want)
		}
	}
	for task, want := range map[string]string{"then planner": "lead may not spawn planner", "then thief": "that the person does not trust"} {
		if a, err := work(t, b, model, "lead", task); err != nil || !strings.Contains(a.Summary, want) {
			t.Errorf("%s: %v %+v", task, err, a)
		}
	}
}

// Agents that cannot run are refused, or end with a reason that says what to do.
func TestAgentsThatCannotRun(t *testing.T) {
	model := modelserver.Start(t, tries)
	b := serveAgents(t, model)
	who := identity.Principal{Kind: identity.Model, Session: "stdio-1"}
	for agent, want := range map[string]string{
		"thief":  `the agent "thief" is of a workspace that the person does not trust`,
		"nobody": `there is no agent "nobody"; there are: lead, planner, worker`,
	} {
		if _, err := work(t, b, who, agent, "look"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", agent, err)
		}
	}
	if a, err := work(t, b, who, "planner", "look"); err != nil || a.Status != agents.Failed || !strings.Contains(a.Summary, "skills-mcp secret set NO_SUCH_KEY") {
		t.Errorf("without a key: %v %+v", err, a)
	}
	if n := model.Count(); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

// The views of agents leave room for those of clients, however many there are, and end no sooner
// than the sessions in them.
func TestAgentsViewsAreEvicted(t *testing.T) {
	b := serveAgents(t, modelserver.Start(t, tries))
	open := func(who identity.Principal) *view {
		v, err := b.views.of(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	north, busy := identity.Principal{Kind: identity.Token, Profile: "north"}, identity.Principal{Kind: identity.Model, Session: "0123456789ab", Agents: []string{"planner"}}
	first := open(north)
	tools, err := b.views.connect(t.Context(), busy, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	used := open(busy)
	chain := func(i int) (who identity.Principal) {
		for bit := range 7 {
			who.Agents = append(who.Agents, []string{"lead", "worker"}[i>>bit&1])
		}
		return who
	}
	for i := range 2 * maxViews {
		open(chain(i))
	}
	if open(north) != first || open(busy) != used || len(b.views.open) > maxViews+2 {
		t.Errorf("a view that is used has ended, or %d are open", len(b.views.open))
	}
	use := func(id string, i int) (leave func(), err error) {
		who := chain(i)
		who.Kind, who.ID, who.Session = identity.Token, id, strconv.Itoa(i)
		_, leave, err = b.views.enter(t.Context(), who)
		return leave, err
	}
	leaves := map[string]func(){}
	for _, step := range []struct {
		id          string
		first, most int    // chains
		refused     string // the last
	}{
		{"ann", 0, maxOwned - 1, ""},
		{"ann", maxOwned - 1, 2, "subagents of yours run in 32 different chains already"},
		{"ann", 0, 2, ""}, // which are used already
		{"bob", maxOwned, maxOwned, "too many profiles"}, // one is of busy
		{"bob", 0, 1, ""}, // which is another's, too
	} {
		for i := step.first; i < step.first+step.most; i++ {
			leave, err := use(step.id, i)
			switch refused := step.refused != "" && i == step.first+step.most-1; {
			case refused && (err == nil || !strings.Contains(err.Error(), step.refused)), !refused && err != nil:
				t.Errorf("%+v: %d: %v", step, i, err)
			case err == nil:
				leaves[step.id] = leave
				defer leave()
			}
		}
	}
	open(identity.Principal{Kind: identity.Token, ReadOnly: true})
}
