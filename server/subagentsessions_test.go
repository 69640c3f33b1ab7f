package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/transport"
)

// parrot is a model that repeats the task, when it may.
type parrot struct{ may chan struct{} }

func (p parrot) Complete(ctx context.Context, r chat.Request) (*chat.Reply, error) {
	select {
	case <-p.may:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &chat.Reply{Message: chat.Message{Role: chat.Assistant, Text: r.Messages[0].Text}}, nil
}

// bare are no tools.
type bare struct{}

func (bare) List(context.Context) ([]chat.Definition, error)              { return nil, nil }
func (bare) Call(context.Context, string, json.RawMessage) (string, bool) { return "", true }
func (bare) Close()                                                       {}
func (bare) Skills(context.Context, string, []string, int) (string, []string, error) {
	return "", nil, nil
}

// newSessions returns sessions of demo/reviewer, whose model answers when may is closed.
func newSessions(t *testing.T, may chan struct{}) *agents.Sessions {
	t.Helper()
	s := store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
	all := agents.New(agents.Options{
		Store: s, MaxChildren: 100, Model: "m", Models: map[string]*agents.Model{"m": {Name: "m", Client: parrot{may}}},
		Connect: func(context.Context, identity.Principal, []string) (agents.Tools, error) { return bare{}, nil },
		Find: func(_ context.Context, _ identity.Principal, name string) (*agents.Agent, error) {
			if name != "demo/reviewer" {
				return nil, &run.Error{Code: run.NotFound, Message: "there is no agent " + name}
			}
			return &agents.Agent{Name: name}, nil
		},
	})
	t.Cleanup(func() {
		all.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return all
}

// web is a client over HTTP.
type web struct {
	t      *testing.T
	url    string
	header http.Header
	last   atomic.Int64
}

// call calls a tool, and returns the answer as it came.
func (w *web) call(tool, args string) string {
	w.t.Helper()
	meta := ""
	if w.header.Get("Mcp-Protocol-Version") != "" {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
	}
	_, answer := w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, w.last.Add(1), tool, args, meta), tool)
	return answer
}

func (w *web) post(body, tool string) (session, answer string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header = w.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if r.Header.Get("Mcp-Protocol-Version") != "" {
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", tool)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Error(err)
		return "", ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Error(err)
	}
	return response.Header.Get(transport.SessionHeader), string(text)
}

var announced = regexp.MustCompile(`\[Subagent Complete\] \\"([a-z0-9-]+)\\" \(done\)\. Result: ([a-z0-9 -]+)`)

// Each of the subagents of each client, at once, is announced once, and to that client: two
// sessions of one principal, its modern requests, and another principal.
func TestSubagentsOfSeveralClients(t *testing.T) {
	may := make(chan struct{})
	sessions := newSessions(t, may)
	b := newBenchWith(t, ends(0, "ran", ""), Options{Subagents: sessions, Agents: reviewer, Left: sessions.Leave})
	h := transport.NewHTTP(b.Backend(), nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := identity.Principal{Kind: identity.Token, ID: r.Header.Get("Who")}
		h.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), who)))
	}))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	clients := map[string]*web{}
	for name, who := range map[string]string{"one": "ann", "two": "ann", "modern": "ann", "other": "bob"} {
		w := &web{t: t, url: s.URL, header: http.Header{"Who": {who}}}
		if name == "modern" {
			w.header.Set("Mcp-Protocol-Version", "2026-07-28")
		} else {
			id, _ := w.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "")
			w.header.Set(transport.SessionHeader, id)
		}
		clients[name] = w
	}
	const each = 15 // of each client: with MaxChildren there is room for all
	var mu sync.Mutex
	got := map[string][]string{}
	var work sync.WaitGroup
	for name, w := range clients {
		collect := func(answer string) {
			mu.Lock()
			defer mu.Unlock()
			for _, found := range announced.FindAllStringSubmatch(answer, -1) {
				got[name] = append(got[name], found[1]+": "+strings.TrimSpace(found[2]))
			}
		}
		for i := range each {
			work.Go(func() {
				answer := w.call("sessions_spawn", fmt.Sprintf(`{"agent_id":"demo/reviewer","task":"task of %s","label":"%s-%d"}`, name, name, i))
				if !strings.Contains(answer, `\"run_id\"`) {
					t.Errorf("%s", answer)
				}
				collect(answer)
			})
		}
		work.Go(func() {
			for range 20_000 { // far more than it takes
				mu.Lock()
				enough := len(got[name]) >= each
				mu.Unlock()
				if enough || t.Failed() {
					return
				}
				collect(w.call("demo__guide", `{}`))
			}
		})
	}
	close(may)
	work.Wait()
	for name, w := range clients {
		var want []string
		for i := range each {
			want = append(want, fmt.Sprintf("%s-%d: task of %s", name, i, name))
		}
		slices.Sort(want)
		slices.Sort(got[name])
		if !slices.Equal(got[name], want) {
			t.Errorf("%s got %q", name, got[name])
		}
		if again := w.call("demo__guide", `{}`); strings.Contains(again, "[Subagent") {
			t.Errorf("%s: %s", name, again)
		}
	}
}

// A client does not see, nor end, what another one has spawned, and hears so in the words for
// those that do not exist.
func TestSubagentsOfOthers(t *testing.T) {
	sessions := newSessions(t, make(chan struct{}))
	b := newBenchWith(t, ends(0, "ran", ""), Options{Subagents: sessions, Agents: reviewer, Left: sessions.Leave})
	ann := b.dialAs(identity.Principal{Kind: identity.Token, ID: "ann"}, `{}`)
	again := b.dialAs(identity.Principal{Kind: identity.Token, ID: "ann"}, `{}`)
	bob := b.dialAs(identity.Principal{Kind: identity.Token, ID: "bob"}, `{}`)
	text := func(c *dialled, tool, args string) string { return c.call(tool, args).Result.Content[0].Text }
	var spawned struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(text(ann, "sessions_spawn", `{"agent_id":"demo/reviewer","task":"wait","label":"mine"}`)), &spawned); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*dialled{again, bob} {
		if got := text(c, "sessions_list", `{}`); got != `{"sessions":[]}` {
			t.Error(got)
		}
		for _, tool := range []string{"sessions_history", "sessions_kill"} {
			own, none := text(c, tool, fmt.Sprintf(`{"run_id":%q}`, spawned.RunID)), text(c, tool, `{"run_id":"0123456789ab"}`)
			if strings.ReplaceAll(none, "0123456789ab", spawned.RunID) != own || !strings.HasPrefix(own, "NOT_FOUND: ") {
				t.Errorf("%s: %s, but %s", tool, own, none)
			}
		}
		if got := text(c, "sessions_send", `{"run_id_or_label":"mine","message":"hi"}`); !strings.HasPrefix(got, "NOT_FOUND: ") {
			t.Error(got)
		}
	}
	if got := text(ann, "sessions_list", `{"status_filter":"running"}`); !strings.Contains(got, spawned.RunID) {
		t.Error(got)
	}
	if got := text(ann, "sessions_kill", fmt.Sprintf(`{"run_id":%q}`, spawned.RunID)); !strings.Contains(got, "killed") {
		t.Error(got)
	}
	ann.hangUp()
	again.hangUp()
	bob.hangUp()
}
