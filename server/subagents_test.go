package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

var _ Subagents = (*agents.Sessions)(nil)

// crew has sessions that end when a test says so.
type crew struct {
	mu       sync.Mutex
	sessions []*agents.Session
	waiting  map[identity.Key][]agents.Announcement
	awaited  map[string]chan agents.Announcement
	ready    chan struct{} // of the only server
	killed   []string
	sent     string
}

func newCrew() *crew {
	return &crew{waiting: map[identity.Key][]agents.Announcement{}, awaited: map[string]chan agents.Announcement{}, ready: make(chan struct{}, 1)}
}

func (c *crew) Spawn(_ context.Context, who identity.Principal, r agents.SpawnRequest) (*agents.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Agent != "demo/reviewer" {
		return nil, &run.Error{Code: run.NotFound, Message: fmt.Sprintf("there is no agent %q; there is demo/reviewer", r.Agent)}
	}
	s := &agents.Session{
		RunID: fmt.Sprintf("%012x", len(c.sessions)+1), Agent: r.Agent, Task: r.Task, Label: r.Label, Model: r.Model, Cleanup: r.Cleanup,
		Status: agents.Running, Depth: 1, Timeout: r.Timeout.Seconds(), Root: who.Key(), Owner: who.Owner(), Result: "secret", Created: time.Unix(1e9, 0).UTC(),
	}
	c.sessions = append(c.sessions, s)
	if r.Awaited {
		c.awaited[s.RunID] = make(chan agents.Announcement, 1)
	}
	return s, nil
}

// end ends a session.
func (c *crew) end(runID, summary string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		if s.RunID != runID {
			continue
		}
		s.Status = agents.Done
		a := agents.Announcement{RunID: runID, Label: s.Label, Status: agents.Done, Summary: summary}
		if awaited := c.awaited[runID]; awaited != nil {
			awaited <- a
			return
		}
		c.waiting[s.Root] = append(c.waiting[s.Root], a)
		select {
		case c.ready <- struct{}{}:
		default:
		}
	}
}

func (c *crew) Send(_ context.Context, _ identity.Principal, session, message string, wait time.Duration) (string, error) {
	c.sent = fmt.Sprintf("%s %q %s", session, message, wait)
	return map[bool]string{true: "", false: "I do."}[wait == 0], nil
}

func (c *crew) List(_ context.Context, who identity.Principal, status agents.Status) (all []*agents.Session, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		if s.Root == who.Key() && (status == "" || status == s.Status) {
			all = append(all, s)
		}
	}
	return all, nil
}

func (c *crew) find(who identity.Principal, runID string) error {
	all, _ := c.List(context.Background(), who, "")
	if !slices.ContainsFunc(all, func(s *agents.Session) bool { return s.RunID == runID }) {
		return &run.Error{Code: run.NotFound, Message: "there is no subagent " + runID}
	}
	return nil
}

func (c *crew) History(_ context.Context, who identity.Principal, runID string) (string, error) {
	return "[user] go", c.find(who, runID)
}

func (c *crew) Kill(_ context.Context, who identity.Principal, runID string) error {
	if err := c.find(who, runID); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed = append(c.killed, runID)
	return nil
}

func (c *crew) Wait(ctx context.Context, _ identity.Principal, runID string) (agents.Announcement, func(), error) {
	c.mu.Lock()
	ended := c.awaited[runID]
	c.mu.Unlock()
	select {
	case a := <-ended:
		return a, func() {}, nil
	case <-ctx.Done():
		return agents.Announcement{}, nil, context.Cause(ctx)
	}
}

func (c *crew) Pending(who identity.Principal) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting[who.Key()]) > 0
}

func (c *crew) Take(_ context.Context, who identity.Principal, use func([]agents.Announcement)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	use(c.waiting[who.Key()])
	delete(c.waiting, who.Key())
	return nil
}

func (c *crew) Watch() (<-chan struct{}, func()) { return c.ready, func() {} }

func reviewer(*skills.Catalog) []*agents.Role {
	return []*agents.Role{{Agent: agents.Agent{Name: "demo/reviewer", Description: "Reviews a change.\nUse it " + strings.Repeat("after writing code, ", 20)}}, {Agent: agents.Agent{Name: "helper"}}}
}

// The tools, and all that they answer.
func TestSubagentTools(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{Subagents: newCrew(), Agents: reviewer})
	tools, _ := b.tools()
	var all strings.Builder
	for _, name := range []string{"sessions_spawn", "sessions_send", "sessions_list", "sessions_history", "sessions_kill"} {
		all.WriteString(indent(t, string(tools[name])))
	}
	for _, call := range []struct{ tool, args string }{
		{"sessions_spawn", `{"agent_id": "demo/reviewer", "task": "Review it.", "label": "first", "timeout": 90, "cleanup": "delete"}`},
		{"sessions_spawn", `{"agent_id": "demo/reviewer", "task": "` + strings.Repeat("long ", 100) + `", "timeout": "90", "label": null, "model": null}`},
		{"sessions_spawn", `{"agent_id": "demo/reviewer", "task": "Review it.", "label": "", "model": "", "timeout": "", "cleanup": ""}`},
		{"sessions_spawn", `{"agent_id": "", "task": ""}`},
		{"sessions_spawn", `{"agent_id": "demo/other", "task": "Review it."}`},
		{"sessions_spawn", `{"task": "Review it."}`},
		{"sessions_spawn", `{"agent_id": "demo/reviewer", "task": "Review it.", "timeout": 0}`},
		{"sessions_spawn", `{"agent_id": "demo/reviewer", "task": "Review it.", "cleanup": "perhaps"}`},
		{"sessions_spawn", `{"agent_id": "demo/reviewer", "task": "Review it.", "agents": 2}`},
		{"sessions_list", `{}`},
		{"sessions_list", `{"status_filter": "done"}`},
		{"sessions_list", `{"status_filter": ""}`},
		{"sessions_list", `{"status_filter": "over"}`},
		{"sessions_send", `{"run_id_or_label": "first", "message": "Go on?"}`},
		{"sessions_send", `{"run_id_or_label": "first", "message": "Go on?", "timeout": 0}`},
		{"sessions_send", `{"run_id_or_label": "first", "message": "Go on?", "timeout": ""}`},
		{"sessions_send", `{"run_id_or_label": "first", "message": "Go on?", "timeout": -1}`},
		{"sessions_send", `{"run_id_or_label": "first"}`},
		{"sessions_history", `{"run_id": "000000000001"}`},
		{"sessions_history", `{"run_id": "000000000009"}`},
		{"sessions_kill", `{"run_id": "000000000001"}`},
		{"sessions_kill", `{"run_id": "000000000009"}`},
		{"sessions_kill", `{}`},
	} {
		a := b.call(call.tool, call.args)
		fmt.Fprintf(&all, "== %s %s\nerror: %t\n%s\n", call.tool, call.args, a.IsError, a.text())
	}
	golden(t, "subagents.txt", all.String())
}

// Without subagents there are no such tools, and without agents no sessions_spawn. A name
// among many is cut off, not the list of tools.
func TestWhichSubagentTools(t *testing.T) {
	many := func(*skills.Catalog) (roles []*agents.Role) {
		for i := range 300 {
			roles = append(roles, &agents.Role{Agent: agents.Agent{Name: fmt.Sprintf("plugin-%d/agent", i), Description: "Does one thing."}})
		}
		return roles
	}
	for name, test := range map[string]struct {
		options Options
		want    int
	}{
		"none":      {Options{Agents: reviewer}, 0},
		"no agents": {Options{Subagents: newCrew(), Agents: func(*skills.Catalog) []*agents.Role { return nil }}, 4},
		"nil":       {Options{Subagents: newCrew()}, 4},
		"many":      {Options{Subagents: newCrew(), Agents: many, Expose: exposure.Options{Chars: exposure.DefaultChars - exposure.SubagentChars}, RunCode: true, KeptSandboxes: true, Feedback: newBook(t), MatchSkills: true}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBenchWith(t, ends(0, "", ""), test.options)
			b.publishWith(thousand()...)
			tools, size := b.tools()
			found := 0
			for tool := range tools {
				if strings.HasPrefix(tool, "sessions_") {
					found++
				}
			}
			if found != test.want || size > maxToolsList {
				t.Errorf("%d tools, and the list has %d bytes", found, size)
			}
			if spawn := string(tools["sessions_spawn"]); name == "many" && (!strings.Contains(spawn, `\n- plugin-0/agent\n- plugin-1/agent\n`) || !strings.Contains(spawn, "…")) {
				t.Error(spawn)
			}
		})
	}
}

// For a client that knows tasks, a subagent is one: its result is the announcement, which is
// nowhere else. To cancel it ends the subagent; to leave does not.
func TestSubagentAsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCrew()
		b := newBenchWith(t, ends(0, "ran", ""), Options{Subagents: all, Agents: reviewer})
		c, other := b.dial(knowsTasks), b.dial(`{}`)
		spawn := func(c *dialled, label string) taskReply {
			return c.call("sessions_spawn", fmt.Sprintf(`{"agent_id":"demo/reviewer","task":"t","label":%q}`, label))
		}
		first := spawn(c, "one").Result
		if first.ResultType != "task" || first.StatusMessage != `the subagent "one" works: run_id 000000000001` {
			t.Fatalf("%+v", first)
		}
		task := fmt.Sprintf(`{"taskId":%q}`, first.TaskID)
		if r := spawn(c, "").Error; r != nil {
			t.Error(r)
		}
		if plain := spawn(other, "plain").Result; plain.ResultType != "complete" || !strings.Contains(fmt.Sprint(plain.Content), `"run_id":"000000000003"`) {
			t.Errorf("%+v", plain)
		}
		all.end("000000000001", "fine")
		all.end("000000000003", "well")
		synctest.Wait()
		for range 2 {
			if got := c.ask("tasks/get", task).Result; got.Status != "completed" || got.Result.IsError || len(got.Result.Content) != 1 || got.Result.Content[0].Text != `[Subagent Complete] "one" (done). Result: fine` {
				t.Errorf("%+v", got)
			}
		}
		if got := c.call("list_skills", "{}").Result.Content; len(got) != 1 {
			t.Errorf("%+v", got)
		}
		if got := other.call("load_skill", `{"name":"guide"}`).Result.Content; len(got) != 2 || got[0].Text != `[Subagent Complete] "plain" (done). Result: well` {
			t.Errorf("%+v", got)
		}
		cancelled := spawn(c, "two").Result.TaskID
		c.ask("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, cancelled))
		synctest.Wait()
		if got := c.ask("tasks/get", fmt.Sprintf(`{"taskId":%q}`, cancelled)).Result; got.Status != "cancelled" || !slices.Equal(all.killed, []string{"000000000004"}) {
			t.Errorf("%+v, killed %q", got, all.killed)
		}
		over, end := context.WithCancel(t.Context())
		end()
		b.Drain(over) // no task begins now
		if refused := spawn(c, "three"); refused.Result.ResultType == "task" || len(all.killed) != 2 || all.killed[1] != all.sessions[len(all.sessions)-1].RunID {
			t.Errorf("%+v, killed %q", refused, all.killed)
		}
		c.hangUp()
		synctest.Wait()
		if len(all.killed) != 2 {
			t.Errorf("killed %q", all.killed)
		}
	})
}

// The client's model gets announcements ahead of any result that it sees; an agent gets
// those for it elsewhere.
func TestAnnouncements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCrew()
		b := newBenchWith(t, ends(1, "", "wrong"), Options{Subagents: all, Agents: reviewer})
		c, other := b.dial(`{}`), b.dial(`{}`)
		const want = `[Subagent Complete] "x" (done). Result: fine`
		for _, test := range []struct {
			tool, args string
			ahead      bool
		}{
			{"demo__run", `{"target":"x"}`, true}, // it fails
			{"demo__run", `{}`, true},             // is refused
			{"run_skill", `{"name":"run","params":{"target":"x"}}`, true},
			{"demo__guide", `{}`, true},
			{"sessions_list", `{}`, true},
			{"sessions_spawn", `{"agent_id":"demo/reviewer","task":"t"}`, true},
			{"list_skills", `{}`, true}, // its structure has it too
			{"reload_skills", `{}`, true},
		} {
			var spawned struct {
				RunID string `json:"run_id"`
			}
			texts := c.call("sessions_spawn", `{"agent_id":"demo/reviewer","task":"t","label":"x"}`).Result.Content
			if err := json.Unmarshal([]byte(texts[len(texts)-1].Text), &spawned); err != nil {
				t.Fatal(err)
			}
			all.end(spawned.RunID, "fine")
			if got := other.call(test.tool, test.args).Result.Content; strings.Contains(fmt.Sprint(got), "[Subagent") {
				t.Errorf("another session got %v", got)
			}
			got := c.call(test.tool, test.args).Result.Content
			if ahead := got[0].Text == want; ahead != test.ahead || len(got) < 2 && ahead {
				t.Errorf("%s %s: %+v", test.tool, test.args, got)
			}
			if !test.ahead {
				got = c.call("sessions_list", "{}").Result.Content
			}
			if got[0].Text != want || strings.Contains(fmt.Sprint(c.call("demo__guide", "{}").Result.Content), "[Subagent") {
				t.Errorf("%s: it was not told once: %+v", test.tool, got)
			}
		}
	})
	a := newAnnouncer(newCrew(), false, nil)
	defer a.close()
	who := identity.Principal{Session: "s"}
	a.from.(*crew).waiting[who.Key()] = []agents.Announcement{{}}
	who.Agents = []string{"demo/reviewer"}
	if a.Pending(who) {
		t.Error("an agent's own are ahead of a result")
	}
}

// A client that listens to the channel is notified; any other is told ahead of a result.
func TestChannel(t *testing.T) {
	const listens = `{"experimental":{"claude/channel":{}}}`
	for name, test := range map[string]struct {
		channel              bool
		client, capabilities string
		kind                 identity.Kind
		notified             bool
	}{
		"Claude Code":                 {true, "claude-code", "{}", identity.Model, true},
		"not configured":              {false, "claude-code", "{}", identity.Model, false},
		"another":                     {true, "cursor", "{}", identity.Model, false},
		"Claude Code elsewhere":       {true, "claude-code", "{}", identity.Token, false},
		"one that says so":            {true, "other", listens, identity.Model, true},
		"one that says so, elsewhere": {false, "other", listens, identity.Token, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newCrew()
				b := newBenchWith(t, ends(0, "", ""), Options{Subagents: all, Agents: reviewer, Channel: test.channel})
				c := b.dialAs(identity.Principal{Kind: test.kind}, `{}`)
				say := func(line string) {
					if _, err := fmt.Fprintln(c.in, line); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				for _, session := range b.announce.sessions.Range { // of a server that has ended
					all.waiting[principalOf(session.(mcpserver.ClientSession)).Key()] = []agents.Announcement{{Label: "before"}}
				}
				all.ready <- struct{}{}
				synctest.Wait()
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":%q,"version":"1"}}}`, test.capabilities, test.client))
				if got := c.line(); strings.Contains(got, `"claude/channel":{}`) != test.channel {
					t.Error(got)
				}
				for range 2 {
					say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				}
				if test.notified {
					if got := c.line(); !strings.Contains(got, `"label":"before"`) {
						t.Error(got)
					}
				}
				for i, label := range []string{"a", "b"} {
					say(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sessions_spawn","arguments":{"agent_id":"demo/reviewer","task":"t","label":%q}}}`, label))
					c.line()
					id := fmt.Sprintf("%012x", i+1)
					all.end(id, "fine")
					want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/claude/channel","params":{"content":"[Subagent Complete] \"%s\" (done). Result: fine","meta":{"label":"%s","run_id":"%s","status":"done"}}}`+"\n", label, label, id)
					if test.notified {
						if got := c.line(); got != want {
							t.Errorf("%s", got)
						}
					}
					say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"demo__guide"}}`)
					if got := c.line(); strings.Contains(got, "[Subagent Complete]") == test.notified {
						t.Errorf("%s", got)
					}
				}
				c.hangUp()
				synctest.Wait()
				for id := range b.announce.sessions.Range {
					t.Errorf("%s is a session yet", id)
				}
			})
		})
	}
}
