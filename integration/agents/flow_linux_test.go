package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/integration/modelserver"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

const modelKey = "sk-model-0123456789abcdef"

// A stage is an account with a model of both APIs, and what its sessions are to do.
type stage struct {
	*lab.Account
	model  *modelserver.Server
	config string

	mu    sync.Mutex
	roles map[string]modelserver.Script // by the first word of a task
	held  chan string                   // the first words of tasks whose request is held
	gone  chan string                   // and of those whose held request has been given up
}

// config is the section of the configuration. %s is the model's address, and the default.
const config = `agents:
  models:
    anthropic: {url: %q, api: anthropic, model: claude-test, key: MODEL_KEY, max_tokens: 1000}
    openai: {url: %q, api: openai, model: gpt-test, key: MODEL_KEY, max_tokens: 1000}
  model: %s
%s
  define:
    worker: {description: Works, prompt: "You work."}
    reader: {description: Reads, prompt: "You read.", tools: [reading, Task]}
    lonely: {description: Is alone, prompt: "You are alone.", allow_agents: [reader], max_children: 1}
policy: {skills: {"*": {class: safe}}}
`

// newStage returns a stage whose default model has an API. more are lines of the section.
func newStage(t *testing.T, api chat.API, more string) *stage {
	t.Helper()
	s := &stage{roles: map[string]modelserver.Script{}, held: make(chan string, 100), gone: make(chan string, 100)}
	s.model = modelserver.Start(t, s.play)
	s.config = fmt.Sprintf(config, s.model.URL, s.model.URL, api, more)
	s.Account = lab.NewAccount(t, "native", s.config)
	for _, name := range []string{"reading", "writing"} {
		s.Skill(name+"/SKILL.md", "---\nname: "+name+"\ndescription: For "+name+" of notes.\n---\nAbout "+name+".\n")
	}
	set := s.Command(lab.Binary, "secret", "set", "MODEL_KEY")
	set.Stdin = strings.NewReader(modelKey)
	if out, code := s.Finish(set); code != 0 {
		t.Fatal(out)
	}
	return s
}

// role says how sessions whose task begins with a word work.
func (s *stage) role(word string, script modelserver.Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.roles[word] = script
}

func (s *stage) play(ctx context.Context, r *modelserver.Request) modelserver.Reply {
	word := strings.Fields(r.Messages[0].Text)[0]
	s.mu.Lock()
	script := s.roles[word]
	s.mu.Unlock()
	if r.Key != modelKey || script == nil {
		return modelserver.Reply{Fault: modelserver.Refused, Text: fmt.Sprintf("the key is %q and the task %q", r.Key, r.Messages[0].Text)}
	}
	return script(ctx, r)
}

// holding is a role that waits until the test releases it, or the client is gone.
func (s *stage) holding(word string) (release func()) {
	released := make(chan struct{})
	s.role(word, func(ctx context.Context, r *modelserver.Request) modelserver.Reply {
		s.held <- word
		select {
		case <-released:
			return modelserver.Reply{Text: "held no longer, after " + r.Last()}
		case <-ctx.Done():
			s.gone <- word
			return modelserver.Reply{}
		}
	})
	return sync.OnceFunc(func() { close(released) })
}

// begun reports whether the model has replied in a conversation.
func begun(r *modelserver.Request) bool {
	return slices.ContainsFunc(r.Messages, func(m chat.Message) bool { return m.Role == chat.Assistant })
}

// soon waits for a value of a channel.
func soon(t *testing.T, c <-chan string, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(lab.Patience):
		t.Error(what)
	}
}

func spawn(agent, task, label string) chat.Call {
	args, err := json.Marshal(map[string]string{"agent_id": agent, "task": task, "label": label})
	if err != nil {
		panic(err)
	}
	return chat.Call{Name: "sessions_spawn", Args: args}
}

// announcements returns the announcements in a conversation, one for each line that begins as
// one.
func announcements(r *modelserver.Request) []string {
	var all []string
	for _, m := range r.Messages {
		for line := range strings.Lines(m.Text) {
			if m.Role == chat.User && strings.HasPrefix(line, "[Subagent Complete]") {
				all = append(all, strings.TrimSpace(line))
			}
		}
	}
	return all
}

// parent is a role that spawns sessions, and replies with the announcements.
func parent(calls ...chat.Call) modelserver.Script {
	return func(_ context.Context, r *modelserver.Request) modelserver.Reply {
		switch told := announcements(r); {
		case !begun(r):
			return modelserver.Reply{Text: "I spawn", Calls: calls, Usage: &chat.Usage{Input: 100, Output: 10}}
		case len(told) < len(calls):
			return modelserver.Reply{Text: "I wait"}
		default:
			slices.Sort(told)
			return modelserver.Reply{Text: "told: " + strings.Join(told, "; ")}
		}
	}
}

func replies(text string) modelserver.Script {
	return func(context.Context, *modelserver.Request) modelserver.Reply { return modelserver.Reply{Text: text} }
}

func eachAPI(t *testing.T, test func(t *testing.T, api chat.API)) {
	for _, api := range []chat.API{chat.OpenAI, chat.Anthropic} {
		t.Run(string(api), func(t *testing.T) { t.Parallel(); test(t, api) })
	}
}

// TestFlow uses subagents as a person does, with each API over each transport.
func TestFlow(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api chat.API) {
		var s *stage
		var release func()
		eachTransport(t, func(t *testing.T) *lab.Account {
			s = newStage(t, api, "  depth: 2")
			s.role("outer", parent(spawn("worker", "inner", "in-1"), spawn("worker", "inner", "in-2")))
			s.role("inner", replies("42"))
			s.role("host", func(_ context.Context, r *modelserver.Request) modelserver.Reply {
				if !begun(r) {
					return modelserver.Reply{Calls: []chat.Call{spawn("worker", "held", "held")}}
				}
				return modelserver.Reply{Text: "heard " + r.Last()}
			})
			release = s.holding("held")
			return s.Account
		}, func(t *testing.T, c *client) {
			t.Cleanup(release)
			run := c.spawn(t, map[string]any{"agent_id": "worker", "task": "outer", "label": "out"})
			if got, want := c.await(t, "out"), `told: [Subagent Complete] "in-1" (done). Result: 42; [Subagent Complete] "in-2" (done). Result: 42`; got.status != "done" || quoted(got.result) != quoted(want) {
				t.Errorf("%+v, want %s", got, want)
			}
			history := c.must(t, "sessions_history", map[string]any{"run_id": run})
			for _, line := range []string{"[user] outer", "[assistant] I spawn"} {
				if !strings.Contains(history, line) {
					t.Errorf("%q is not in the history\n%s", line, history)
				}
			}
			all, err := c.list("done")
			if err != nil || len(all) != 3 || !slices.ContainsFunc(all, func(s session) bool { return s.Label == "in-1" && s.Depth == 2 }) {
				t.Errorf("%v, %+v", err, all)
			}
			// A session that waits for its child hears a message, and replies.
			host := c.spawn(t, map[string]any{"agent_id": "worker", "task": "host", "label": "host"})
			soon(t, s.held, "the child of a session does not ask its model")
			if got := c.must(t, "sessions_send", map[string]any{"run_id_or_label": "host", "message": "are you there?", "timeout": 60}); !strings.Contains(got, "heard are you there?") {
				t.Errorf("%s", got)
			}
			c.must(t, "sessions_kill", map[string]any{"run_id": host})
			if got := c.await(t, "host"); got.status != "killed" {
				t.Errorf("%+v", got)
			}
			soon(t, s.gone, "the child of a killed session still asks its model")
			if all, err := c.list("running"); err != nil || len(all) != 0 {
				t.Errorf("%v, %+v", err, all)
			}
			c.fails(t, "sessions_send", map[string]any{"run_id_or_label": "host", "message": "and now?"}, "spawn another")
			if len(c.announced) != 0 { // those of children are for their parents
				t.Errorf("%+v", c.announced)
			}
		})
	})
}

// quoted returns a text as it is with the words of announcements changed.
func quoted(text string) string {
	return strings.ReplaceAll(text, "[Subagent Complete]", "(Subagent Complete)")
}

// TestTask: to a client that knows tasks the announcement is the result of one. If the server
// is killed before the client has read it, the next server announces it.
func TestTask(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api chat.API) {
		s := newStage(t, api, "")
		s.role("inner", replies("42"))
		release := s.holding("held")
		defer release()
		c := modern(s.Account)
		first := c.task(t, "sessions_spawn", map[string]any{"agent_id": "worker", "task": "inner", "label": "one"})
		if got := c.taskResult(t, first); !strings.Contains(got, `"one\" (done). Result: 42`) {
			t.Error(got)
		}
		second := c.task(t, "sessions_spawn", map[string]any{"agent_id": "worker", "task": "held", "label": "two"})
		soon(t, s.held, "the session of a task does not ask its model")
		if _, err := c.request("tasks/cancel", map[string]any{"taskId": second}); err != nil {
			t.Fatal(err)
		}
		soon(t, s.gone, "a cancelled session still asks its model")
		if got := c.await(t, "two"); got.status != "killed" { // the task has no result
			t.Errorf("%+v", got)
		}
		third := c.task(t, "sessions_spawn", map[string]any{"agent_id": "worker", "task": "inner", "label": "three"})
		for done := 0; done < 2; { // with the first
			all, err := c.list("done")
			if err != nil {
				t.Fatal(err)
			}
			done = len(all)
		}
		if len(c.announced) > 0 {
			t.Errorf("announced a second time: %v", c.announced)
		}
		c.server.kill()
		c = modern(s.Account)
		if got := c.await(t, "three"); got.status != "done" || got.result != "42" {
			t.Errorf("%+v", got)
		}
		if c.must(t, "sessions_list", map[string]any{}); len(c.announced) > 0 {
			t.Errorf("announced a second time: %v", c.announced)
		}
		if m, err := c.request("tasks/get", map[string]any{"taskId": third}); err != nil || m.Error == nil {
			t.Errorf("%v, %s", err, m.Result)
		}
	})
}
