package transport

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/replica"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// A member is one of several servers that share a store.
type member struct {
	*site
	*bench
	server *httptest.Server
	set    *replica.Set
	once   sync.Once
}

// newMember returns a server of a store. The header User names the sender of a request.
func newMember(t *testing.T, file string) *member {
	t.Helper()
	s := store.New(file, nil)
	m := &member{bench: newBench()}
	m.AddTools(
		mcpserver.ServerTool{Tool: mcp.NewTool("who"), Handler: who},
		mcpserver.ServerTool{Tool: mcp.NewTool("ask"), Handler: func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer, err := Request(ctx, string(mcp.MethodElicitationCreate), map[string]any{"message": "Well?"})
			return mcp.NewToolResultText(string(answer)), err
		}},
	)
	m.server = httptest.NewUnstartedServer(nil)
	url := "http://" + m.server.Listener.Addr().String()
	m.set = replica.New(s, url, nil, nil)
	if err := m.set.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := NewHTTP(m.backend(), &Options{Replicas: m.set})
	m.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), identity.Principal{Kind: identity.Token, ID: r.Header.Get("User")})))
	})
	m.server.Start()
	m.site = &site{t: t, h: h, url: url, client: http.DefaultClient}
	t.Cleanup(func() {
		m.kill()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		m.set.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return m
}

// kill ends the connections of a server, and takes no more. Its row stays.
func (m *member) kill() {
	m.once.Do(func() {
		_ = m.server.Listener.Close()
		m.server.CloseClientConnections()
	})
}

// who says as whom a client is known.
func who(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s := mcpserver.ClientSessionFromContext(ctx).(*session)
	c := s.GetClientCapabilities()
	return mcp.NewToolResultText(fmt.Sprint(s.GetClientInfo().Name, " ", s.ProtocolVersion(), " ", c.Elicitation != nil, c.Sampling != nil, " ", s.Principal().ID, " ", s.Initialized())), nil
}

// at returns a client that has the same headers at another server.
func (v *visitor) at(m *member) *visitor { return &visitor{site: m.site, header: v.header.Clone()} }

// as returns a legacy client of a user.
func (m *member) as(user, capabilities string) *visitor {
	m.t.Helper()
	v := &visitor{site: m.site, header: http.Header{"User": {user}}}
	response := v.post(strings.Replace(hello, `"capabilities":{}`, `"capabilities":`+capabilities, 1))
	defer response.Body.Close()
	v.header.Set(SessionHeader, response.Header.Get(SessionHeader))
	if response.StatusCode != http.StatusOK || v.header.Get(SessionHeader) == "" {
		m.t.Fatalf("initialize: %s", response.Status)
	}
	v.note("notifications/initialized", "{}")
	return v
}

// outcome returns the status of an answer and its only reply.
func (r *replies) outcome() string {
	r.t.Helper()
	var all []string
	for {
		m, err := r.next()
		if err != nil {
			break
		}
		if m.Method == "" {
			all = append(all, m.String())
		}
	}
	if len(all) != 1 {
		r.t.Errorf("%d replies: %q", len(all), all)
	}
	return fmt.Sprint(r.status, " ", strings.Join(all, "\n"))
}

func wantOutcome(t *testing.T, r *replies, want ...string) {
	t.Helper()
	got := r.outcome()
	for _, part := range want {
		if !strings.Contains(got, part) {
			t.Errorf("got %s\nwant %s", got, part)
		}
	}
}

// Two clients of A are served by B as by A, and neither uses the other's session. A question
// that A asks is answered at B.
func TestSessionOfAnother(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	a, b := newMember(t, file), newMember(t, file)
	ann, bob := a.as("ann", `{"elicitation":{}}`), a.as("bob", `{}`)
	for range 2 {
		wantOutcome(t, ann.at(b).call("who", "{}"), "200", "tester 2025-11-25 true false ann true")
		wantOutcome(t, bob.at(b).call("who", "{}"), "200", "tester 2025-11-25 false false bob true")
	}
	for _, at := range []*member{a, b} {
		thief := bob.at(at)
		thief.header.Set(SessionHeader, ann.header.Get(SessionHeader))
		wantOutcome(t, thief.call("who", "{}"), "404", "there is no such session")
		thief.header.Set(SessionHeader, "http-unknown")
		wantOutcome(t, thief.call("who", "{}"), "404", "there is no such session")
	}
	asked := ann.at(b).call("ask", "{}")
	question, err := asked.next()
	if err != nil || question.Method != "elicitation/create" {
		t.Fatalf("%v, %v", question, err)
	}
	response := ann.at(b).post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, question.ID))
	response.Body.Close()
	wantOutcome(t, asked, `{\"action\":\"accept\"}`)

	// Notices of A come over B.
	stream := ann.at(b).do(ann.at(b).request(t.Context(), http.MethodGet, ""))
	a.AddTool(mcp.NewTool("new"), echo)
	if notice, err := ann.read(stream).next(); err != nil || notice.Method != "notifications/tools/list_changed" {
		t.Errorf("%v, %v", notice, err)
	}
	stream.Body.Close()

	gone := ann.at(b).do(ann.at(b).request(t.Context(), http.MethodDelete, ""))
	gone.Body.Close()
	for _, at := range []*member{a, b} {
		wantOutcome(t, ann.at(at).call("who", "{}"), "404", "there is no such session")
	}
}

// Sessions of a server that is gone are resumed once, as they were, by their own principals.
func TestSessionResumed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	a, b, c := newMember(t, file), newMember(t, file), newMember(t, file)
	ann, bob := a.as("ann", `{"elicitation":{},"sampling":{}}`), a.as("bob", `{}`)
	a.kill()
	thief := bob.at(b)
	thief.header.Set(SessionHeader, ann.header.Get(SessionHeader))
	wantOutcome(t, thief.call("who", "{}"), "404", "there is no such session")
	var all sync.WaitGroup
	for i := range 16 {
		one := ann.at([]*member{b, c}[i%2])
		one.last.Store(int64(100 * i)) // IDs are the session's
		all.Go(func() { wantOutcome(t, one.call("who", "{}"), "200", "tester 2025-11-25 true true ann true") })
	}
	all.Wait()
	wantOutcome(t, bob.at(c).call("who", "{}"), "200", "tester 2025-11-25 false false bob true")
	held := 0
	for _, m := range []*member{b, c} {
		s := m.h.legacy.sessions
		s.mu.Lock()
		held += len(s.byID)
		s.mu.Unlock()
	}
	if held != 2 {
		t.Errorf("%d sessions are held", held)
	}
	wantOutcome(t, thief.call("who", "{}"), "404", "there is no such session")

	// A question of the one that resumed it is answered at the other.
	asked := ann.at(b).call("ask", "{}")
	question, err := asked.next()
	if err != nil || question.Method != "elicitation/create" {
		t.Fatalf("%v, %v", question, err)
	}
	response := ann.at(c).post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, question.ID))
	response.Body.Close()
	wantOutcome(t, asked, `{\"action\":\"decline\"}`)
}

// A call whose server is lost is answered once, with an error, whether or not its stream has
// begun. It is not repeated.
func TestLostReply(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	for name, progress := range map[string]string{"answer": "", "stream": `"_meta":{"progressToken":"p"}`} {
		t.Run(name, func(t *testing.T) {
			a, b := newMember(t, file), newMember(t, file)
			ann := a.as("ann", `{"elicitation":{}}`)
			tool := "block"
			if progress != "" {
				tool = "ask" // which sends something first
			}
			answered := make(chan *replies, 1)
			go func() { answered <- ann.at(b).call(tool, "{}") }()
			if progress == "" {
				<-a.started
				a.kill()
				wantOutcome(t, <-answered, "200", "error -32603: the server that handled it has ended; it may have run")
			} else {
				r := <-answered
				if first, err := r.next(); err != nil || first.Method != "elicitation/create" {
					t.Fatalf("%v, %v", first, err)
				}
				a.kill()
				wantOutcome(t, r, "200", "error -32603: the server that handled it has ended; it may have run")
			}
			wantOutcome(t, ann.at(b).call("who", "{}"), "200", "ann true")
			if len(b.started) != 0 {
				t.Error("the call was repeated")
			}
		})
	}
}

// A server that nobody shares with names nothing, and knows nothing of others.
func TestAlone(t *testing.T) {
	s := serveHTTP(t, newBench().backend(), nil)
	v := s.legacy("{}")
	if id := v.header.Get(SessionHeader); strings.Count(id, "-") != 1 {
		t.Errorf("its ID is %q", id)
	}
	v.header.Set(SessionHeader, "http-x-1")
	wantOutcome(t, v.call("echo", "{}"), "404", "there is no such session")
}
