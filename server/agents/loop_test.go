package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A fakeModel answers requests by a script, which gets the number of the request.
type fakeModel struct {
	script func(n int, r chat.Request) (*chat.Reply, error)

	mu       sync.Mutex
	requests []chat.Request
}

func (m *fakeModel) Complete(ctx context.Context, r chat.Request) (*chat.Reply, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	n := len(m.requests)
	m.requests = append(m.requests, r)
	m.mu.Unlock()
	return m.script(n, r)
}

func text(t string) *chat.Reply {
	return &chat.Reply{Message: chat.Message{Role: chat.Assistant, Text: t}}
}

func calls(names ...string) *chat.Reply {
	r := text("")
	for i, name := range names {
		r.Calls = append(r.Calls, chat.Call{ID: fmt.Sprint("c", i), Name: name, Args: json.RawMessage("{}")})
	}
	return r
}

// replies is a script of replies, one after the other.
func replies(all ...*chat.Reply) *fakeModel {
	return &fakeModel{script: func(n int, _ chat.Request) (*chat.Reply, error) {
		if n >= len(all) {
			return nil, errors.New("the script has ended")
		}
		return all[n], nil
	}}
}

// fakeTools are tools by name, and skills by a word of the messages that match them.
type fakeTools struct {
	tools  map[string]func(ctx context.Context, args json.RawMessage) (string, bool)
	skills map[string]string
	err    error
	fails  string // the message at which Skills fails
}

func (f *fakeTools) List(context.Context) (all []chat.Definition, err error) {
	for name := range f.tools {
		all = append(all, chat.Definition{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	slices.SortFunc(all, func(a, b chat.Definition) int { return cmp.Compare(a.Name, b.Name) })
	return all, f.err
}

func (f *fakeTools) Call(ctx context.Context, name string, args json.RawMessage) (string, bool) {
	return f.tools[name](ctx, args)
}

func (f *fakeTools) Skills(_ context.Context, message string, named []string, most int) (string, []string, error) {
	var bodies []string
	for word, body := range f.skills {
		if slices.Contains(named, word) || strings.Contains(message, word) {
			bodies = append(bodies, body)
		}
	}
	slices.Sort(bodies)
	if message == f.fails {
		return "", nil, errors.New("no")
	}
	return "The skills: pdf, csv.", bodies[:min(most, len(bodies))], nil
}

func (f *fakeTools) Close() {}

// A fakeHost has messages for a loop; later come while it waits.
type fakeHost struct {
	now   []string
	later []string
	err   error

	conversation []chat.Message
	said         []string
}

func (h *fakeHost) next(_ context.Context, wait bool) ([]string, bool, error) {
	messages := h.now
	h.now = nil
	if wait && len(messages) == 0 && len(h.later) > 0 {
		messages, h.later = h.later[:1], h.later[1:]
	}
	return messages, !wait || len(messages) > 0, h.err
}

func (h *fakeHost) record(all []chat.Message) { h.conversation = all }
func (h *fakeHost) replied(text string)       { h.said = append(h.said, text) }

// newLoop returns a loop with a model, and its host.
func newLoop(m *fakeModel) (*loop, *fakeHost) {
	h := &fakeHost{}
	return &loop{
		session: Session{RunID: "0123456789ab", Task: "Count the pages.", Label: "pages", Depth: 2},
		agent:   &Agent{Name: "docs:counter", Prompt: "You count."},
		model:   &Model{Name: "fake", Client: m},
		tools:   &fakeTools{tools: map[string]func(context.Context, json.RawMessage) (string, bool){"count": func(context.Context, json.RawMessage) (string, bool) { return "7", false }}},
		host:    h,
		ledger:  newLedger(nil, Budget{}),
		skills:  2,
	}, h
}

// lines returns a conversation as lines.
func lines(all []chat.Message) []string {
	return strings.Split(strings.TrimSuffix(transcript(all), "\n"), "\n")
}

func TestRun(t *testing.T) {
	cut := func(r *chat.Reply) *chat.Reply { r.Cut = true; return r }
	task, goOn := "[user] Count the pages.", "[user] "+goOn
	for name, test := range map[string]struct {
		replies    []*chat.Reply
		result     string
		transcript []string
	}{
		"text":       {[]*chat.Reply{text("7 pages")}, "7 pages", []string{task, "[assistant] 7 pages"}},
		"no text":    {[]*chat.Reply{text("")}, noResult, []string{task}},
		"call":       {[]*chat.Reply{calls("count"), text("7")}, "7", []string{task, "[assistant]  → count({})", "[tool] 7", "[assistant] 7"}},
		"cut":        {[]*chat.Reply{cut(text("7 pa")), text("ges")}, "7 pages", []string{task, "[assistant] 7 pa", goOn, "[assistant] ges"}},
		"cut twice":  {[]*chat.Reply{cut(text("7 ")), cut(text("pa"))}, "7 pa", []string{task, "[assistant] 7 ", goOn, "[assistant] pa"}},
		"cut, empty": {[]*chat.Reply{cut(text("")), text("7")}, "7", []string{task, goOn, "[assistant] 7"}},
		"cut, call":  {[]*chat.Reply{cut(text("7 ")), calls("count"), cut(text("se")), text("ven")}, "seven", []string{task, "[assistant] 7 ", goOn, "[assistant]  → count({})", "[tool] 7", "[assistant] se", goOn, "[assistant] ven"}},
		"cut call":   {[]*chat.Reply{cut(calls("count")), text("7")}, "7", []string{task, "[assistant]  → count({})", "[tool] 7", "[assistant] 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := replies(test.replies...)
			l, h := newLoop(m)
			result, err := l.run(t.Context())
			if err != nil || result != test.result || !slices.Equal(h.said, []string{test.result}) {
				t.Errorf("run is %q, %v, said %q, want %q", result, err, h.said, test.result)
			}
			if got := lines(h.conversation); !slices.Equal(got, test.transcript) {
				t.Errorf("conversation:\n%q, want\n%q", got, test.transcript)
			}
			if len(m.requests) != len(test.replies) || l.ledger.spent().Turns != len(test.replies) {
				t.Errorf("%d requests, %+v, want %d", len(m.requests), l.ledger.spent(), len(test.replies))
			}
		})
	}
}

// TestRunThoughtAlone: a model that spends each reply on thoughts has no result.
func TestRunThoughtAlone(t *testing.T) {
	none := &chat.Reply{Message: chat.Message{Role: chat.Assistant}, Cut: true}
	l, _ := newLoop(replies(none, none))
	if result, err := l.run(t.Context()); err == nil || !strings.Contains(err.Error(), "spent all of its max_tokens, 4096, before any text") {
		t.Errorf("%q, %v", result, err)
	}
}

func TestRunEmptyReply(t *testing.T) {
	l, _ := newLoop(&fakeModel{script: func(int, chat.Request) (*chat.Reply, error) {
		return &chat.Reply{Message: chat.Message{Role: chat.Assistant}}, nil
	}})
	if result, err := l.run(t.Context()); err != nil || result != noResult {
		t.Errorf("run is %q, %v", result, err)
	}
}

func TestCalls(t *testing.T) {
	type tool = func(context.Context, json.RawMessage) (string, bool)
	asked := calls("big", "gone", "fails", "empty", "broken", "args")
	asked.Calls[4].Broken = `[1,`
	asked.Calls[5].Args = json.RawMessage(`{"a":1}`)
	l, h := newLoop(replies(asked, text("done")))
	l.tools = &fakeTools{tools: map[string]tool{
		"big":    func(context.Context, json.RawMessage) (string, bool) { return strings.Repeat("ä", maxOutput), false },
		"fails":  func(context.Context, json.RawMessage) (string, bool) { return "no file", true },
		"empty":  func(context.Context, json.RawMessage) (string, bool) { return "", false },
		"broken": func(context.Context, json.RawMessage) (string, bool) { return "not to be called", false },
		"args":   func(_ context.Context, args json.RawMessage) (string, bool) { return string(args), false },
	}}
	if result, err := l.run(t.Context()); err != nil || result != "done" {
		t.Fatalf("run is %q, %v", result, err)
	}
	results := h.conversation[2:8]
	if n := len(results[0].Text); n > maxOutput || n < maxOutput-10 {
		t.Errorf("the result has %d bytes", n)
	}
	results[0].Text = "big"
	want := []chat.Message{
		{Role: chat.Tool, CallID: "c0", Text: "big"},
		{Role: chat.Tool, CallID: "c1", Text: `there is no tool "gone"`, Failed: true},
		{Role: chat.Tool, CallID: "c2", Text: "no file", Failed: true},
		{Role: chat.Tool, CallID: "c3", Text: "(no output)"},
		{Role: chat.Tool, CallID: "c4", Text: "the arguments have to be a JSON object, not [1,", Failed: true},
		{Role: chat.Tool, CallID: "c5", Text: `{"a":1}`},
	}
	if !reflect.DeepEqual(results, want) {
		t.Errorf("results:\n%+v, want\n%+v", results, want)
	}
}

func TestCallsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running := 0
		release := make(chan string)
		l, h := newLoop(replies(calls("wait", "wait", "wait", "wait", "wait", "wait"), text("done")))
		l.tools = &fakeTools{tools: map[string]func(context.Context, json.RawMessage) (string, bool){
			"wait": func(context.Context, json.RawMessage) (string, bool) {
				mu.Lock()
				running++
				mu.Unlock()
				return <-release, false
			},
		}}
		done := make(chan error)
		go func() {
			_, err := l.run(t.Context())
			done <- err
		}()
		for finished, want := range []int{4, 5, 6, 6, 6, 6} {
			synctest.Wait()
			if running != want {
				t.Errorf("after %d results %d calls have begun, want %d", finished, running, want)
			}
			release <- "result"
		}
		if err := <-done; err != nil || len(h.conversation) != 9 {
			t.Errorf("run: %v, with %d messages", err, len(h.conversation))
		}
	})
}

func TestMessages(t *testing.T) {
	var h *fakeHost
	m := &fakeModel{script: func(n int, r chat.Request) (*chat.Reply, error) {
		switch n {
		case 0:
			h.now = []string{"Hurry: csv.", "And the csv of today."}
			return calls("count"), nil
		case 1:
			return text("waiting"), nil
		}
		return text(fmt.Sprint("answer ", n)), nil
	}}
	l, h2 := newLoop(m)
	h = h2
	h.later = []string{`[Subagent Complete] "a" (done). Result: 3`, `[Subagent Complete] "b" (done). Result: csv`}
	l.tools.(*fakeTools).skills = map[string]string{"csv": "How to read CSV.", "pages": "How to count pages."}
	result, err := l.run(t.Context())
	if err != nil || result != "answer 3" || !slices.Equal(h.said, []string{"waiting", "answer 2", "answer 3"}) {
		t.Errorf("run is %q, %v, said %q", result, err, h.said)
	}
	want := []string{
		"[user] Count the pages.", "[assistant]  → count({})", "[tool] 7",
		"[user] Hurry: csv. ⏎ How to read CSV.", "[user] And the csv of today.", "[assistant] waiting",
		`[user] [Subagent Complete] "a" (done). Result: 3`, "[assistant] answer 2",
		`[user] [Subagent Complete] "b" (done). Result: csv`, "[assistant] answer 3",
	}
	if got := lines(h.conversation); !slices.Equal(got, want) {
		t.Errorf("conversation:\n%q, want\n%q", got, want)
	}
	if got := len(m.requests[1].Messages); got != 5 {
		t.Errorf("the second request has %d messages", got)
	}
}

func TestErrors(t *testing.T) {
	no := errors.New("no")
	for name, test := range map[string]struct {
		change func(*loop, *fakeHost)
		want   string
		result string
	}{
		"list":   {func(l *loop, _ *fakeHost) { l.tools.(*fakeTools).err = no }, "list the session's tools: no", ""},
		"skills": {func(l *loop, _ *fakeHost) { l.tools.(*fakeTools).fails = l.session.Task }, "read the agent's skills: no", ""},
		"skills of a message": {func(l *loop, h *fakeHost) {
			h.later, l.tools.(*fakeTools).fails = []string{"more"}, "more"
		}, "read the skills that fit a message: no", "7"},
		"host":  {func(_ *loop, h *fakeHost) { h.err = no }, "no", ""},
		"model": {func(_ *loop, h *fakeHost) { h.later = []string{"more"} }, "the script has ended", "7"},
	} {
		t.Run(name, func(t *testing.T) {
			l, h := newLoop(replies(text("7")))
			test.change(l, h)
			if result, err := l.run(t.Context()); err == nil || err.Error() != test.want || result != test.result {
				t.Errorf("run is %q, %v, want %q, %s", result, err, test.result, test.want)
			}
			if l.ledger.held != (Used{}) {
				t.Errorf("held is %+v", l.ledger.held)
			}
		})
	}
}

func TestEndlessLoop(t *testing.T) {
	m := &fakeModel{script: func(int, chat.Request) (*chat.Reply, error) { return calls("count"), nil }}
	l, _ := newLoop(m)
	l.ledger = newLedger(newLedger(nil, Budget{Turns: 5}), Budget{Turns: 9})
	_, err := l.run(t.Context())
	if !errors.Is(err, errUsedUp) || err.Error() != "the budget of 5 turns is used up" || len(m.requests) != 5 {
		t.Errorf("run: %v, after %d requests", err, len(m.requests))
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	m := &fakeModel{script: func(int, chat.Request) (*chat.Reply, error) {
		cancel(errors.New("killed"))
		return calls("count"), nil
	}}
	l, _ := newLoop(m)
	if _, err := l.run(ctx); err == nil || err.Error() != "killed" {
		t.Errorf("run: %v", err)
	}
}

func TestPrompt(t *testing.T) {
	skills := map[string]string{"pages": "How to count pages.", "csv": "How to read CSV.", "Count": "How to count."}
	begin := fmt.Sprintf(preamble, 2, "pages")
	context := "The skills: pdf, csv.\n\nHow to count pages.\n\nHow to count."
	for name, test := range map[string]struct{ prompt, want string }{
		"place":   {"Be brief.\n{skills_context}\nBe right.", "Be brief.\n" + context + "\nBe right."},
		"none":    {"Be brief.", "Be brief.\n\n" + context},
		"nothing": {"", context},
	} {
		t.Run(name, func(t *testing.T) {
			m := replies(text("7"))
			l, _ := newLoop(m)
			l.agent.Prompt = test.prompt
			l.tools.(*fakeTools).skills = skills
			if _, err := l.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, want := m.requests[0].System, begin+"\n\n"+test.want; got != want {
				t.Errorf("system prompt:\n%q, want\n%q", got, want)
			}
		})
	}
}

// Each request whose reply breaks off is a turn of the budget, and there are at most five.
func TestCutReplies(t *testing.T) {
	for turns, want := range map[int]struct {
		requests int
		text     string
	}{2: {2, "the budget of 2 turns is used up"}, 0: {5, "cut"}} {
		m := &fakeModel{script: func(int, chat.Request) (*chat.Reply, error) { return nil, fmt.Errorf("cut: %w", chat.ErrCut) }}
		l, _ := newLoop(m)
		l.ledger = newLedger(nil, Budget{Turns: turns})
		if _, err := l.run(t.Context()); err == nil || !strings.Contains(err.Error(), want.text) || len(m.requests) != want.requests || l.ledger.spent().Turns != want.requests || l.ledger.held != (Used{}) {
			t.Errorf("budget of %d: %v, %d requests, %+v", turns, err, len(m.requests), l.ledger.spent())
		}
	}
}

// A message brings the instructions of a skill that it matches; the result of a child, which
// is a stranger's text, does not.
func TestSkillsOfMessages(t *testing.T) {
	l, h := newLoop(replies(text("7"), text("8"), text("9")))
	l.tools.(*fakeTools).skills = map[string]string{"csv": "How to read CSV."}
	fake := Announcement{Label: "a", Status: Done, Summary: "use csv"}.String()
	h.later = []string{fake, "use csv"}
	if _, err := l.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range h.conversation[1:] {
		if m.Role == chat.User {
			got = append(got, m.Text)
		}
	}
	if want := []string{fake, "use csv\n\nHow to read CSV."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHooks(t *testing.T) {
	m := replies(calls("count"), text("7"), text("8, you Are you"))
	l, h := newLoop(m)
	h.later = []string{"Are you sure?"}
	var events []string
	l.hook = func(_ context.Context, who identity.Principal, event, field string, fields map[string]any) string {
		if fields["agent_id"] != "docs:counter" || who.ID != "ann" {
			t.Errorf("%s is told of %v by %v", event, fields, who)
		}
		if event == "before_agent_start" {
			events = append(events, fmt.Sprint(event, fields["messages"], strings.Contains(fields["system_prompt"].(string), "You count.")))
			return map[string]string{"system_prompt": "Replaced."}[field]
		}
		events = append(events, fmt.Sprint(event, " ", fields["message"], " ", len(h.conversation)))
		return map[string]string{"message": strings.ReplaceAll(fields["message"].(string), "Are you", "Really")}[field]
	}
	l.who.ID = "ann"
	if result, err := l.run(t.Context()); err != nil || result != "8, you Really" || h.conversation[5].Text != result {
		t.Fatalf("run is %q, %v", result, err)
	}
	want := []string{
		"before_agent_start[map[content:Count the pages. role:user]] true",
		"message_received Count the pages. 0", "message_sending 7 3",
		"message_received Are you sure? 4", "message_sending 8, you Are you 5",
	}
	if got := h.conversation[4].Text; got != "Really sure?" {
		t.Errorf("the model gets %q", got)
	}
	if !slices.Equal(events, want) || m.requests[2].System != "Replaced." {
		t.Errorf("events:\n%q, want\n%q, system prompt %q", events, want, m.requests[2].System)
	}
}
