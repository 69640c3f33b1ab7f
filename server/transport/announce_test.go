package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// board has announcements by the key of their principal.
type board struct {
	mu      sync.Mutex
	waiting map[identity.Key][]string
	took    int
	broken  bool      // none can be marked as told
	at      time.Time // of the end of the last Take
}

func (b *board) put(key identity.Key, texts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = map[identity.Key][]string{}
	}
	b.waiting[key] = append(b.waiting[key], texts...)
}

func (b *board) Pending(who identity.Principal) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting[who.Key()]) > 0
}

func (b *board) Harmless(result []byte) []byte {
	return bytes.ReplaceAll(result, []byte("news of a stranger"), []byte("lies"))
}

func (b *board) Take(who identity.Principal, use func(texts []string)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	use([]string{"of a transaction that is repeated"})
	use(b.waiting[who.Key()])
	if b.broken {
		return false
	}
	delete(b.waiting, who.Key())
	b.took++
	b.at = time.Now()
	return true
}

// announcing is a bench with tools of all kinds of results.
func announcing(b *board) (Backend, *bench) {
	core := newBench(mcpserver.WithHooks(errorHooks()))
	structured := func(failed bool) mcpserver.ToolHandlerFunc {
		return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: failed, Content: []mcp.Content{mcp.NewTextContent(`{"n":9007199254740993}`)}, StructuredContent: json.RawMessage(`{"n":9007199254740993}`)}, nil
		}
	}
	schema := mcp.WithRawOutputSchema(json.RawMessage(`{"type":"object"}`))
	core.AddTools(
		mcpserver.ServerTool{Tool: mcp.NewTool("structured"), Handler: structured(false)},
		mcpserver.ServerTool{Tool: mcp.NewTool("declared", schema), Handler: structured(false)},
		mcpserver.ServerTool{Tool: mcp.NewTool("closed", mcp.WithRawOutputSchema(json.RawMessage(`{"type":"object","properties":{"n":{}},"additionalProperties":false}`))), Handler: structured(false)},
		mcpserver.ServerTool{Tool: mcp.NewTool("taken", schema), Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("{}")}, StructuredContent: json.RawMessage(`{"\u0061nnouncements":[]}`)}, nil
		}},
		mcpserver.ServerTool{Tool: mcp.NewTool("failed", schema), Handler: structured(true)},
		mcpserver.ServerTool{Tool: mcp.NewTool("task"), Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &rpc.Other{Result: map[string]any{"resultType": "task", "taskId": "t"}}
		}},
		mcpserver.ServerTool{Tool: mcp.NewTool("who"), Handler: func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(string(principalIn(mcpserver.ClientSessionFromContext(ctx)).Key())), nil
		}},
		mcpserver.ServerTool{Tool: mcp.NewTool("wrong"), Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("it is broken")
		}},
	)
	backend := core.backend()
	backend.Announcements = b
	return backend, core
}

func errorHooks() *mcpserver.Hooks {
	h := &mcpserver.Hooks{}
	h.AddOnError(OnError)
	return h
}

// contents returns the texts of a result, with its structure at the end.
func contents(t *testing.T, r reply) (all []string) {
	t.Helper()
	var result struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	if r.Error == nil && json.Unmarshal(r.Result, &result) != nil {
		t.Fatalf("%s", r.Result)
	}
	for _, c := range result.Content {
		all = append(all, c.Text)
	}
	if result.StructuredContent != nil {
		all = append(all, "structure "+string(result.StructuredContent))
	}
	return all
}

// An announcement is ahead of the next result of a tool whose contents a model sees, and
// waits while there is none.
func TestAnnouncementsAheadOfResults(t *testing.T) {
	const n = `{"n":9007199254740993}`
	for _, generation := range []string{"legacy", "modern"} {
		for _, test := range []struct {
			tool string
			want []string // nil: the announcement waits
		}{
			{"echo", []string{"a", "b", "lies"}},
			{"structured", []string{"a", "b", n}},
			{"failed", []string{"a", "b", n}},
			{"declared", []string{"a", "b", n, `structure {"announcements":["a","b"],"n":9007199254740993}`}},
			{"closed", nil},
			{"taken", nil},
			{"task", nil},
			{"wrong", nil},
			{"absent", nil},
		} {
			t.Run(generation+" "+test.tool, func(t *testing.T) {
				all := &board{}
				backend, _ := announcing(all)
				s := serveHTTP(t, backend, nil)
				v := s.modern()
				if generation == "legacy" {
					v = s.legacy("{}")
				}
				who := identity.Principal{Session: v.header.Get(SessionHeader)}
				v.ask("tools/list", "{}")
				all.put(who.Key(), "a", "b")
				got, err := v.call(test.tool, `{"tag":"news of a stranger"}`).next()
				if err != nil {
					t.Fatal(err)
				}
				if after := contents(t, got); test.want != nil && !slices.Equal(after, test.want) {
					t.Errorf("%q", after)
				}
				if waits := all.Pending(who); waits != (test.want == nil) || (all.took == 0) != waits {
					t.Errorf("it waits: %t; taken %d times", waits, all.took)
				}
				if again, err := v.call("structured", "{}").next(); test.want != nil && (err != nil || !slices.Equal(contents(t, again), []string{n, "structure " + n})) {
					t.Errorf("the next result is %s, %v", again, err)
				}
			})
		}
	}
}

// No message announces anything in the name of another, whatever kind it is. A skill's file keeps
// its bytes, and a method that announces looks itself.
func TestForgedAnnouncements(t *testing.T) {
	const forged = "news of a stranger"
	backend, b := announcing(&board{})
	tell := func(send func(ctx context.Context, r mcp.CallToolRequest) error) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("done"), send(ctx, r)
		}
	}
	b.AddTools(
		mcpserver.ServerTool{Tool: mcp.NewTool("tells", mcp.WithDescription(forged)), Handler: tell(func(ctx context.Context, r mcp.CallToolRequest) error {
			return b.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "message": forged})
		})},
		mcpserver.ServerTool{Tool: mcp.NewTool("logs"), Handler: tell(func(ctx context.Context, _ mcp.CallToolRequest) error {
			return b.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelError, forged, forged))
		})},
		mcpserver.ServerTool{Tool: mcp.NewTool("asks"), Handler: tell(func(ctx context.Context, _ mcp.CallToolRequest) error {
			_, err := Request(ctx, "elicitation/create", map[string]any{"message": forged})
			return err
		})},
		mcpserver.ServerTool{Tool: mcp.NewTool("becomes"), Handler: tell(func(context.Context, mcp.CallToolRequest) error {
			return &rpc.Other{Result: map[string]any{"statusMessage": forged}}
		})},
		mcpserver.ServerTool{Tool: mcp.NewTool("fails"), Handler: tell(func(context.Context, mcp.CallToolRequest) error {
			return &rpc.Error{Code: -1, Message: forged, Data: forged}
		})},
	)
	b.AddPrompt(mcp.NewPrompt("prompt"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: forged}, nil
	})
	for _, uri := range []string{"skill://file", "x:file"} {
		b.AddResource(mcp.NewResource(uri, forged), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, Text: forged}}, nil
		})
	}
	answer := func(context.Context, json.RawMessage) (any, error) { return map[string]any{"text": forged}, nil }
	backend.Methods = map[string]rpc.Method{"describes": {Handle: answer}, "announces": {Handle: answer, Announces: true}, "fails": {Handle: func(context.Context, json.RawMessage) (any, error) { return nil, errors.New(forged) }}}
	call := func(tool string) string {
		return fmt.Sprintf(`"tools/call","params":{"name":%q,"arguments":{},"_meta":{"progressToken":1}}`, tool)
	}
	for request, want := range map[string]string{
		call("tells"): "lies", call("logs"): "lies", call("asks"): "lies", call("becomes"): "lies", call("fails"): "lies",
		`"tools/list"`: "lies", `"prompts/get","params":{"name":"prompt"}`: "lies", `"resources/list"`: "lies", `"describes"`: "lies", `"fails"`: "lies",
		`"resources/read","params":{"uri":"x:file"}`: "lies", `"resources/read","params":{"uri":"skill://file"}`: forged, `"announces"`: forged,
	} {
		c := dial(t, backend, nil)
		c.send(strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
		c.recv()
		c.send(`{"jsonrpc":"2.0","id":1,"method":` + request + `}`)
		if line, err := c.lines.ReadString('\n'); err != nil || !strings.Contains(line, want) || want != forged && strings.Contains(line, forged) {
			t.Errorf("%s: %v, %s", request, err, line)
		}
	}
}

// Announcements that cannot be marked as told come with the next result.
func TestAnnouncementsNotMarked(t *testing.T) {
	all := &board{broken: true}
	backend, _ := announcing(all)
	v := serveHTTP(t, backend, nil).modern()
	all.put(identity.Principal{}.Key(), "a", "b")
	for _, want := range [][]string{{"own"}, {"a", "b", "own"}, {"own"}} {
		if got, err := v.call("echo", `{"tag":"own"}`).next(); err != nil || !slices.Equal(contents(t, got), want) {
			t.Errorf("%s, %v, want %q", got, err, want)
		}
		all.broken = false
	}
}

// Each of 50 calls at once, of two sessions and two generations, may carry announcements:
// every one arrives once, at its own session.
func TestAnnouncementsOnce(t *testing.T) {
	all := &board{}
	backend, _ := announcing(all)
	s := serveHTTP(t, backend, nil)
	type session struct {
		call func(i int) reply
		key  identity.Key
		got  []string // guarded by mu
	}
	sessions := map[string]*session{}
	for name, v := range map[string]*visitor{"legacy": s.legacy("{}"), "other": s.legacy("{}"), "modern": s.modern()} {
		sessions[name] = &session{key: identity.Principal{Session: v.header.Get(SessionHeader)}.Key(), call: func(int) reply {
			r, err := v.call("echo", `{"tag":"own"}`).next()
			if err != nil {
				t.Error(err)
			}
			return r
		}}
	}
	var mu sync.Mutex
	var calls sync.WaitGroup
	for name, one := range sessions {
		for i := range 50 {
			all.put(one.key, fmt.Sprintf("%s %d", name, i))
			calls.Go(func() {
				texts := contents(t, one.call(i))
				mu.Lock()
				defer mu.Unlock()
				one.got = append(one.got, texts[:len(texts)-1]...)
				if texts[len(texts)-1] != "own" {
					t.Errorf("%q", texts)
				}
			})
		}
	}
	calls.Wait()
	for name, one := range sessions {
		slices.Sort(one.got)
		if n := len(one.got); n != 50 || len(slices.Compact(one.got)) != n || !strings.HasPrefix(one.got[0], name) || !strings.HasPrefix(one.got[n-1], name) {
			t.Errorf("%s got %d: %q", name, n, one.got)
		}
	}
}

// Over one stream, too, whose modern requests are of the same session.
func TestAnnouncementsOnceOverStdio(t *testing.T) {
	for generation, more := range map[string]string{"legacy": `"_meta":{}`, "modern": modernMeta} {
		t.Run(generation, func(t *testing.T) {
			all := &board{}
			backend, _ := announcing(all)
			c := dial(t, backend, nil).greet()
			c.call("0", "who", "{}", more)
			key := identity.Key(contents(t, c.recv())[0])
			for i := range 50 {
				all.put(key, fmt.Sprint("news ", i))
			}
			go func() {
				for i := range 50 {
					c.call(fmt.Sprint(i+1), "echo", `{"tag":"own"}`, more)
				}
			}()
			var got []string
			for range 50 {
				texts := contents(t, c.recv())
				got = append(got, texts[:len(texts)-1]...)
			}
			slices.Sort(got)
			if len(got) != 50 || len(slices.Compact(got)) != 50 {
				t.Errorf("%d: %q", len(got), got)
			}
			c.hangUp()
		})
	}
}

// A client that has cancelled its call, or has gone, takes none with it.
func TestAnnouncementsOfTheGone(t *testing.T) {
	all := &board{}
	backend, b := announcing(all)
	s := serveHTTP(t, backend, nil)
	for generation, v := range map[string]*visitor{"legacy": s.legacy("{}"), "modern": s.modern()} {
		who := identity.Principal{Session: v.header.Get(SessionHeader)}
		ctx, leave := context.WithCancel(t.Context())
		r := v.message(ctx, "1", "tools/call", callParams("block", "{}"))
		gone := make(chan error, 1)
		go func() {
			_, err := http.DefaultClient.Do(r)
			gone <- err
		}()
		<-b.started
		all.put(who.Key(), "news")
		leave()
		<-b.causes
		if err := <-gone; err == nil || !all.Pending(who) {
			t.Errorf("%s: %v; it waits: %t", generation, err, all.Pending(who))
		}
		if got, err := v.call("echo", `{"tag":"hi"}`).next(); err != nil || !slices.Equal(contents(t, got), []string{"news", "hi"}) {
			t.Errorf("%s: %s, %v", generation, got, err)
		}
	}
	c := dial(t, backend, nil).greet()
	c.call("1", "who", "{}")
	who := identity.Principal{Session: strings.TrimPrefix(contents(t, c.recv())[0], "///")}
	c.call("2", "block", "{}")
	<-b.started
	all.put(who.Key(), "news")
	c.cancelCall("2", "no more")
	<-b.causes
	c.ping()
	if !all.Pending(who) {
		t.Error("a cancelled call has taken it")
	}
	c.call("3", "echo", `{"tag":"hi"}`)
	if got := contents(t, c.recv()); !slices.Equal(got, []string{"news", "hi"}) {
		t.Errorf("%q", got)
	}
	c.hangUp()
}

// A notification is made when there is a stream for it, once, and not if there is nothing
// left to tell.
func TestNotify(t *testing.T) {
	all := &board{}
	backend, b := announcing(all)
	sessions := make(chan mcpserver.ClientSession, 1)
	b.AddNotificationHandler("notifications/initialized", func(ctx context.Context, _ mcp.JSONRPCNotification) {
		sessions <- mcpserver.ClientSessionFromContext(ctx)
	})
	notify := func(to mcpserver.ClientSession) {
		Notify(to, "notifications/news", func(use func([]any)) bool {
			return all.Take(principalIn(to), func(texts []string) {
				var params []any
				for _, text := range texts {
					params = append(params, map[string]string{"text": text})
				}
				use(params)
			})
		})
	}
	s, over := serveHTTP(t, backend, nil), make(chan struct{}, 100)
	s.over = func() { over <- struct{}{} }
	v := s.legacy("{}")
	web := <-sessions
	<-over
	<-over
	listen := func() *replies { return v.read(v.do(v.request(t.Context(), http.MethodGet, ""))) }
	all.put(principalIn(web).Key(), "a", "b")
	notify(web)
	notify(web)
	if all.took != 0 {
		t.Error("taken without a stream")
	}
	stream := listen()
	stream.want(`: notifications/news{"text":"a"}`)
	stream.want(`: notifications/news{"text":"b"}`)
	stream.body.Close()
	<-over // the stream is over here, too
	all.put(principalIn(web).Key(), "c")
	notify(web)
	if got, err := v.call("echo", `{"tag":"hi"}`).next(); err != nil || !slices.Equal(contents(t, got), []string{"c", "hi"}) {
		t.Errorf("%s, %v", got, err)
	}
	stream = listen()
	all.put(principalIn(web).Key(), "d")
	notify(web)
	stream.want(`: notifications/news{"text":"d"}`)

	c := dial(t, backend, nil).greet()
	pipe := <-sessions
	all.put(principalIn(pipe).Key(), "a", "b")
	notify(pipe)
	c.want(`: notifications/news{"text":"a"}`)
	c.want(`: notifications/news{"text":"b"}`)
	notify(nil)
	c.hangUp()
}

// BenchmarkAnnounced has 20 announcements of 4 KB ahead of 48 KB, and 1 ahead of little. A
// process that ends in the time called exposed, between the end of Take and the write, loses
// them.
func BenchmarkAnnounced(b *testing.B) {
	for name, size := range map[string]struct{ announcements, each, result int }{"most": {20, 4000, 48 << 10}, "one": {1, 400, 200}} {
		b.Run(name, func(b *testing.B) {
			all := &board{}
			backend, _ := announcing(all)
			e := newEdge(backend, (*Options)(nil).withDefaults(stdioBounds()))
			m := message{method: "tools/call", id: json.RawMessage("1"), params: json.RawMessage(`{"name":"echo"}`)}
			line, err := encodeResult(m.id, mcp.NewToolResultText(strings.Repeat("x", size.result)))
			if err != nil {
				b.Fatal(err)
			}
			var exposed time.Duration
			for b.Loop() {
				for range size.announcements {
					all.put("", strings.Repeat("y", size.each))
				}
				if with := announced(&e, &peer{}, m, line); len(with) < size.announcements*size.each {
					b.Fatal("it has none")
				}
				exposed += time.Since(all.at)
			}
			b.ReportMetric(float64(exposed.Nanoseconds())/float64(b.N), "exposed-ns/op")
		})
	}
}
