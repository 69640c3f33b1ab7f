package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

// used returns a reply with the endpoint's count of the request.
func used(r *chat.Reply, input int) *chat.Reply {
	r.Usage = chat.Usage{Input: input, Output: 10}
	return r
}

func isSummary(r chat.Request) bool { return r.System == summarise }

// At 80 % of the window the model summarises all but the last messages, and a token below
// it does not.
func TestCompactAt(t *testing.T) {
	grows := tokens(calls("count").Message, chat.Message{Text: "7"})
	summary := []string{"[user] Count the pages.\n[assistant]  → count({})\n[tool] 7\n"}
	for _, test := range []struct {
		window, size, reply int
		summaries           []string
	}{
		{10_000, 7999, 0, nil},
		{10_000, 8000, 2000, summary},
		{0, 102_399, 0, nil},
		{0, 102_400, 4096, summary},
	} {
		var asked []string
		m := &fakeModel{}
		m.script = func(n int, r chat.Request) (*chat.Reply, error) {
			switch {
			case isSummary(r):
				if len(r.Tools) > 0 || len(r.Messages) != 1 || r.MaxTokens != test.reply {
					t.Errorf("the summary is asked for with %d tools, %d messages, %d tokens", len(r.Tools), len(r.Messages), r.MaxTokens)
				}
				asked = append(asked, r.Messages[0].Text)
				return used(text("It was 7."), 50), nil
			case n == 0:
				return calls("count"), nil
			case n == 1:
				return used(calls("count"), test.size-grows), nil
			}
			return text("done"), nil
		}
		l, _ := newLoop(m)
		l.model.Window = test.window
		if result, err := l.run(t.Context()); err != nil || result != "done" {
			t.Fatalf("run is %q, %v", result, err)
		}
		if !slices.Equal(asked, test.summaries) || l.ledger.spent().Turns != len(m.requests) {
			t.Errorf("at %d of %d the model summarises %q, want %q; %+v used", test.size, test.window, asked, test.summaries, l.ledger.spent())
		}
	}
}

// fill returns a conversation of n calls, each with a result of size bytes.
func fill(l *loop, n, size int) {
	l.Messages = []chat.Message{{Role: chat.User, Text: l.session.Task}}
	for i := range n {
		call := chat.Call{ID: fmt.Sprint(i), Name: "count", Args: []byte("{}")}
		l.Messages = append(l.Messages,
			chat.Message{Role: chat.Assistant, Calls: []chat.Call{call, call}},
			chat.Message{Role: chat.Tool, CallID: call.ID, Text: strings.Repeat("a", size)},
			chat.Message{Role: chat.Tool, CallID: call.ID, Text: strings.Repeat("b", size)},
		)
	}
}

func TestCompactSummarises(t *testing.T) {
	m := replies(text("It was 7."))
	l, h := newLoop(m)
	fill(l, 20, 1000)
	before := l.Messages
	whole := slices.Clone(before)
	if err := l.compact(t.Context(), 12_000); err != nil {
		t.Fatal(err)
	}
	// a call with its results is 523 tokens: five are within a quarter of the limit
	if len(l.Messages) != 1+5*3 || l.Messages[1].Role != chat.Assistant || !strings.HasPrefix(l.Messages[0].Text, "Count the pages.") || !strings.HasSuffix(l.Messages[0].Text, "\n\nIt was 7.") {
		t.Errorf("%d messages are left: %q", len(l.Messages), lines(l.Messages))
	}
	if asked := m.requests[0].Messages[0].Text; len(asked) < 15*2000 || len(asked) > 16*2000 || !strings.HasPrefix(asked, "[user] Count the pages.\n[assistant]  → count({}) → count({})\n") {
		t.Errorf("the model summarises %d bytes", len(asked))
	}
	if len(h.conversation) != len(l.Messages) || fmt.Sprint(before) != fmt.Sprint(whole) {
		t.Error("the conversation is not recorded, or was changed in place")
	}
	// A second one has the first in its text.
	fill2 := l.Messages
	m.script = func(int, chat.Request) (*chat.Reply, error) { return text("Still 7."), nil }
	l.Messages = append(slices.Clip(fill2), chat.Message{Role: chat.User, Text: strings.Repeat("c", 8000)})
	if err := l.compact(t.Context(), 8000); err != nil {
		t.Fatal(err)
	}
	if asked := m.requests[1].Messages[0].Text; !strings.Contains(asked, "It was 7.") || len(l.Messages) != 2 || strings.Contains(l.Messages[0].Text, "It was 7.") {
		t.Errorf("after the second, of %d bytes: %q", len(asked), lines(l.Messages))
	}
}

// A conversation that is larger than the window is shortened for the summary, and where
// that does not help the oldest results are.
func TestCompactShortens(t *testing.T) {
	full := func(int, chat.Request) (*chat.Reply, error) { return nil, fmt.Errorf("x: %w", chat.ErrWindowFull) }
	t.Run("for the summary", func(t *testing.T) {
		m := replies(text("It was 7."))
		l, _ := newLoop(m)
		fill(l, 20, maxOutput)
		if err := l.compact(t.Context(), 8000); err != nil {
			t.Fatal(err)
		}
		if n := len(m.requests[0].Messages[0].Text); n > 24_000 || n < 22_000 {
			t.Errorf("the model summarises %d bytes", n)
		}
		if l.size() >= 8000 || len(l.Messages) != 1+3 {
			t.Errorf("%d messages of %d tokens are left", len(l.Messages), l.size())
		}
	})
	t.Run("without summary", func(t *testing.T) {
		l, _ := newLoop(&fakeModel{script: full})
		fill(l, 5, 4000)
		whole := fmt.Sprint(l.Messages)
		given := l.Messages
		if err := l.compact(t.Context(), 9000); err != nil {
			t.Fatal(err)
		}
		sizes := []int{}
		for _, m := range l.Messages {
			if m.Role == chat.Tool {
				sizes = append(sizes, len(m.Text))
			}
		}
		if l.size() >= 9000 || l.size() < 8700 || sizes[0] != 3072 || sizes[9] != 4000 || !slices.IsSorted(sizes) || fmt.Sprint(given) != whole {
			t.Errorf("%d tokens are left, of results %d", l.size(), sizes)
		}
	})
}

// An endpoint whose window is full is asked once more, with less.
func TestWindowFull(t *testing.T) {
	for name, test := range map[string]struct {
		fits     int // of the requests, the largest that the endpoint takes, in tokens
		requests int
		want     string
	}{
		"fits":  {9000, 7, "<nil>"},
		"never": {10, 7, "window is full"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &fakeModel{}
			m.script = func(n int, r chat.Request) (*chat.Reply, error) {
				switch {
				case n < 4:
					return calls("count"), nil
				case tokens(r.Messages...) > test.fits:
					return nil, fmt.Errorf("window is full: %w", chat.ErrWindowFull)
				}
				return text("done"), nil
			}
			l, _ := newLoop(m)
			l.tools = &fakeTools{tools: map[string]func(context.Context, json.RawMessage) (string, bool){"count": func(context.Context, json.RawMessage) (string, bool) { return strings.Repeat("a", 16_000), false }}}
			_, err := l.run(t.Context())
			if len(m.requests) != test.requests || !strings.HasPrefix(fmt.Sprint(err), test.want) {
				t.Errorf("%d requests, %v", len(m.requests), err)
			}
			if spent := l.ledger.spent(); spent.Turns != test.requests || l.ledger.held != (Used{}) {
				t.Errorf("%+v used, %+v held", spent, l.ledger.held)
			}
		})
	}
}

func TestSummaryFails(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		budget Budget
		want   string
	}{
		"endpoint": {errors.New("no"), Budget{}, "summarise the conversation: no"},
		"budget":   {nil, Budget{Tokens: 100}, "summarise the conversation: the budget of 100 tokens is used up"},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := newLoop(&fakeModel{script: func(int, chat.Request) (*chat.Reply, error) { return text("7"), test.err }})
			l.ledger = newLedger(nil, test.budget)
			fill(l, 20, 1000)
			if err := l.compact(t.Context(), 8000); err == nil || err.Error() != test.want {
				t.Error(err)
			}
		})
	}
}

// A reply may have what the model and the rest of its window allow.
func TestMaxTokens(t *testing.T) {
	for _, test := range []struct{ most, window, want int }{
		{0, 0, defaultReply}, {1000, 0, 1000}, {3000, 2000, -1}, {300, 300, minReply},
	} {
		m := replies(text("done"))
		l, _ := newLoop(m)
		l.model.MaxTokens, l.model.Window = test.most, test.window
		if _, err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if test.want < 0 {
			test.want = test.window - l.ledger.spent().Tokens + tokens(text("done").Message)
		}
		if got := m.requests[0].MaxTokens; got != test.want {
			t.Errorf("of %d and a window of %d the reply may have %d, want %d", test.most, test.window, got, test.want)
		}
	}
}
