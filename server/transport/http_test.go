package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

func TestBothGenerations(t *testing.T) {
	s := serveHTTP(t, newBench().backend(), nil)
	for i := range 2 { // side by side
		legacy, modern := s.legacy("{}"), s.modern()
		r := legacy.call("echo", `{"tag":"old"}`)
		r.want(text("1", "old"))
		r.wantEnd()
		r = modern.call("echo", fmt.Sprintf(`{"tag":"new %d"}`, i))
		r.want(modernText("1", fmt.Sprintf("new %d", i)))
		r.wantEnd()
		if r.header.Get(SessionHeader) != "" {
			t.Error("a modern client was given a session")
		}
		if r := modern.ask("server/discover", `{}`); r.status != http.StatusOK {
			t.Errorf("discover: %d", r.status)
		}
	}
}

// Every call sends progress as its last act, many at once. mcp-go's own transport
// lost 112 of 300 and sent 167 to another call's stream.
func TestProgressGoesToItsOwnStream(t *testing.T) {
	const calls, atOnce, each = 300, 8, 3
	s := serveHTTP(t, newBench().backend(), nil)
	for name, v := range map[string]*visitor{"legacy": s.legacy("{}"), "modern": s.modern()} {
		t.Run(name, func(t *testing.T) {
			slots := make(chan struct{}, atOnce)
			var all sync.WaitGroup
			for i := range calls {
				slots <- struct{}{}
				all.Go(func() {
					defer func() { <-slots }()
					token := `"t` + fmt.Sprint(i) + `"`
					params := callParams("progress", fmt.Sprintf(`{"n":%d}`, each), `"_meta":{"progressToken":`+token+`}`)
					r := v.message(t.Context(), fmt.Sprint(1000+i), "tools/call", params)
					if name == "modern" {
						params = callParams("progress", fmt.Sprintf(`{"n":%d}`, each), strings.Replace(modernMeta, `"m"`, token, 1))
						r.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, 1000+i, params)))
						r.ContentLength = -1
					}
					answer := v.read(v.do(r))
					for n := range each {
						m, err := answer.next()
						if want := fmt.Sprintf(`: notifications/progress{"progress":%d,"progressToken":%s}`, n+1, token); err != nil || m.String() != want {
							t.Errorf("call %d: %v, %v; want %s", i, m, err, want)
						}
					}
					if m, err := answer.next(); err != nil || string(m.ID) != fmt.Sprint(1000+i) || m.Result == nil {
						t.Errorf("call %d: %v, %v", i, m, err)
					}
					answer.wantEnd()
				})
			}
			all.Wait()
		})
	}
}

// A legacy client cancels its own requests, running or queued, and no other's.
func TestCancelOverHTTP(t *testing.T) {
	b := newBench()
	s := serveHTTP(t, b.backend(), &Options{bounds: bounds{calls: 2}})
	one, other := s.legacy("{}"), s.legacy("{}")
	start := func(v *visitor, id, tag string) *replies {
		var r *replies
		done := make(chan struct{})
		go func() {
			defer close(done)
			r = v.read(v.do(v.message(t.Context(), id, "tools/call", callParams("block", `{"tag":"`+tag+`"}`))))
		}()
		if tag != "queued" {
			<-b.started
		}
		t.Cleanup(func() { <-done })
		return lazily(t, done, &r)
	}
	a := start(one, "7", "a")
	z := start(other, "7", "z")
	queued := start(one, "8", "queued")
	one.note("notifications/cancelled", `{"requestId":7,"reason":"enough"}`)
	if cause := <-b.causes; cause.Error() != "cancelled by the client: enough" {
		t.Error(cause)
	}
	a.wait().wantNothing()
	if tag := <-b.started; tag != "queued" {
		t.Error(tag)
	}
	one.note("notifications/cancelled", `{"requestId":8}`)
	<-b.causes
	queued.wait().wantNothing()
	b.release <- struct{}{}
	z.wait().want(text("7", "released"))
}

// lazily returns replies that are there when done is closed.
func lazily(t *testing.T, done <-chan struct{}, r **replies) *replies {
	return &replies{t: t, body: waiter{done, r}}
}

type waiter struct {
	done <-chan struct{}
	r    **replies
}

func (w waiter) Close() error { <-w.done; return nil }

func (r *replies) wait() *replies {
	if w, ok := r.body.(waiter); ok {
		w.Close()
		return *w.r
	}
	return r
}

// A queued call that is cancelled ends at once, and never starts.
func TestCancelOfAQueuedCallOverHTTP(t *testing.T) {
	b := newBench()
	s := serveHTTP(t, b.backend(), &Options{bounds: bounds{calls: 1}})
	v := s.legacy("{}")
	var all sync.WaitGroup
	all.Go(func() { v.call("block", `{"tag":"first"}`).want(text("1", "released")) })
	<-b.started
	all.Go(func() {
		r := v.read(v.do(v.message(t.Context(), "99", "tools/call", callParams("block", `{"tag":"second"}`))))
		r.wantNothing()
	})
	for !s.h.calls.has(v.header.Get(SessionHeader) + " 99") {
		runtime.Gosched()
	}
	v.note("notifications/cancelled", `{"requestId":99}`)
	b.release <- struct{}{}
	all.Wait()
	if len(b.started) != 0 {
		t.Error("the cancelled call has started")
	}
}

// The end of its stream cancels a modern request; its id in a notification
// cancels nobody's. mcp-go lets any client end any other's call.
func TestCancelOfModernRequests(t *testing.T) {
	b := newBench()
	s := serveHTTP(t, b.backend(), nil)
	ctx, hangUp := context.WithCancel(t.Context())
	v := s.modern()
	var all sync.WaitGroup
	all.Go(func() {
		_, err := http.DefaultClient.Do(v.message(ctx, "7", "tools/call", callParams("block", `{}`)))
		if err == nil {
			t.Error("the call was answered")
		}
	})
	all.Go(func() { v.read(v.do(v.message(t.Context(), "7", "tools/call", callParams("block", `{}`)))).next() })
	<-b.started
	<-b.started
	r := v.request(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	r.Header.Set("Mcp-Method", "notifications/cancelled")
	if response := v.do(r); response.StatusCode != http.StatusAccepted {
		t.Error(response.Status)
	}
	if len(b.causes) != 0 {
		t.Fatal("a notification has cancelled a call")
	}
	hangUp()
	if cause := <-b.causes; cause != errGone && cause != context.Canceled {
		t.Error(cause)
	}
	b.release <- struct{}{}
	all.Wait()
}

// What a handler asks of a legacy client goes out on the stream of its call.
func TestAskOverHTTP(t *testing.T) {
	s := serveHTTP(t, asking().backend(), nil)
	v, other := s.legacy(`{"elicitation":{}}`), s.legacy(`{"elicitation":{}}`)
	r := v.call("ask", `{"method":"elicitation/create"}`)
	r.want(`"ask-1": elicitation/create{"message":"?"}`)
	for _, from := range []*visitor{other, v} { // the other's answer is nobody's
		response := from.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask-1","result":{"own":%t}}`, from == v))
		response.Body.Close()
		if response.StatusCode != http.StatusAccepted {
			t.Error(response.Status)
		}
	}
	r.want(text("1", `{"own":true}`))
	r.wantEnd()
}

// Change notices go to a legacy client's own stream, also those of before it was
// opened, and to no request's.
func TestNoticesOverHTTP(t *testing.T) {
	b := newBench()
	s := serveHTTP(t, b.backend(), nil)
	v := s.legacy("{}")
	b.AddTool(mcp.NewTool("one"), echo)
	b.AddTool(mcp.NewTool("two"), echo)
	stream := v.read(v.do(v.request(t.Context(), http.MethodGet, "")))
	stream.want(": notifications/tools/list_changed")
	r := v.call("echo", `{"tag":"x"}`)
	r.want(text("1", "x"))
	r.wantEnd()
	b.AddTool(mcp.NewTool("three"), echo)
	stream.want(": notifications/tools/list_changed")
	second := v.read(v.do(v.request(t.Context(), http.MethodGet, "")))
	stream.wantEnd() // the client has given it up
	b.AddTool(mcp.NewTool("four"), echo)
	second.want(": notifications/tools/list_changed")
	response := v.do(v.request(t.Context(), http.MethodDelete, ""))
	response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Error(response.Status)
	}
	second.wantEnd()
	if response := v.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); response.StatusCode != http.StatusNotFound {
		t.Error("the session still answers:", response.Status)
	}
}

func TestListenOverHTTP(t *testing.T) {
	b := newBench(mcpserver.WithPromptCapabilities(true))
	s := serveHTTP(t, b.backend(), nil)
	v := s.modern()
	r := v.read(v.do(v.message(t.Context(), `"s"`, "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)))
	r.want(fmt.Sprintf(`: notifications/subscriptions/acknowledged{`+tag+`,"notifications":{"toolsListChanged":true}}`, `"s"`))
	b.AddPrompt(mcp.NewPrompt("p"), nil)
	b.AddTool(mcp.NewTool("new"), echo)
	r.want(fmt.Sprintf(`: notifications/tools/list_changed{`+tag+`}`, `"s"`))
	s.h.stop(errShutdown)
	if m, err := r.next(); err != nil || string(m.ID) != `"s"` || m.Result == nil {
		t.Errorf("no result at the end, but %v, %v", m, err)
	}
	r.wantEnd()
}

// What is refused, and how.
func TestRefusedOverHTTP(t *testing.T) {
	s := serveHTTP(t, newBench().backend(), &Options{bounds: bounds{message: 500}})
	initialized, modern := s.legacy("{}"), s.modern()
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	for name, test := range map[string]struct {
		v       *visitor
		method  string
		body    string
		headers string // "Name: value", lines
		status  int
		holds   string
	}{
		"no session":           {&visitor{site: s}, "POST", ping, "", 400, "send initialize first"},
		"unknown session":      {&visitor{site: s}, "POST", ping, "Mcp-Session-Id: x", 404, "send initialize again"},
		"truncated":            {initialized, "POST", `{"jsonrpc":`, "", 400, "-32700"},
		"batch":                {initialized, "POST", "[" + ping + "]", "", 400, "-32600"},
		"too long":             {initialized, "POST", strings.Repeat(" ", 501), "", 413, "longer than 500 bytes"},
		"wrong type":           {initialized, "POST", ping, "Content-Type: text/plain", 415, "application/json"},
		"old version":          {initialized, "POST", ping, "MCP-Protocol-Version: 1999-01-01", 400, `"code":-32022,"message":"unsupported`},
		"legacy, other method": {initialized, "POST", ping, "Mcp-Method: tools/list", 400, `"id":1,"error":{"code":-32020`},
		"legacy, its method":   {initialized, "POST", ping, "Mcp-Method: ping", 200, "result"},
		"legacy, other name":   {initialized, "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, "Mcp-Method: tools/call\nMcp-Name: other", 400, "-32020"},
		"legacy, its name":     {initialized, "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, "Mcp-Name: echo", 200, "result"},
		"old version, GET":     {initialized, "GET", "", "MCP-Protocol-Version: 1999-01-01", 400, "-32022"},
		"old version, meta":    {initialized, "POST", strings.Replace(list, "2026-07-28", "1900-01-01", 1), "", 400, `"id":1,"error":{"code":-32022`},
		"PUT":                  {initialized, "PUT", "", "", 405, ""},
		"modern GET":           {modern, "GET", "", "", 405, ""},
		"modern DELETE":        {modern, "DELETE", "", "", 405, ""},
		"modern response":      {modern, "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, "", 400, "-32600"},
		"no meta":              {modern, "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, "Mcp-Method: tools/list", 400, "-32602"},
		"no version header":    {&visitor{site: s}, "POST", list, "Mcp-Method: tools/list", 400, "-32020"},
		"other version":        {modern, "POST", list, "Mcp-Method: tools/list\nMCP-Protocol-Version: 2031-01-01", 400, "-32020"},
		"other method":         {modern, "POST", list, "Mcp-Method: tools/call", 400, "-32020"},
		"no method header":     {modern, "POST", list, "", 400, "-32020"},
		"unknown method":       {modern, "POST", strings.Replace(list, "tools/list", "tools/none", 1), "Mcp-Method: tools/none", 404, "-32601"},
		"unknown version, other than the header's": {modern, "POST", strings.Replace(list, "2026-07-28", "1999-01-01", 1), "Mcp-Method: tools/list", 400, "-32020"},
		"unknown version": {modern, "POST", strings.Replace(list, "2026-07-28", "2031-01-01", 1),
			"Mcp-Method: tools/list\nMCP-Protocol-Version: 2031-01-01", 400, "-32022"},
	} {
		t.Run(name, func(t *testing.T) {
			v := &visitor{site: s, header: test.v.header.Clone()}
			if v.header == nil {
				v.header = http.Header{}
			}
			r := v.request(t.Context(), test.method, test.body)
			for line := range strings.SplitSeq(test.headers, "\n") {
				name, value, _ := strings.Cut(line, ": ")
				switch name {
				case "":
				default:
					r.Header.Set(name, value)
				}
			}
			response := v.do(r)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.status || !bytes.Contains(body, []byte(test.holds)) {
				t.Errorf("%s %s, %v", response.Status, body, err)
			}
		})
	}
}

// The end of a session ends its calls, which are answered, and no other's.
func TestSessionEndsWithItsCalls(t *testing.T) {
	b := newBench()
	s := serveHTTP(t, b.backend(), &Options{bounds: bounds{calls: 2}})
	one, other := s.legacy("{}"), s.legacy("{}")
	var all sync.WaitGroup
	for _, v := range []*visitor{one, other} {
		all.Go(func() { v.call("block", `{}`).want(text("1", "released")) })
		<-b.started
	}
	response := one.post(pinging) // though no place is free
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Error(response.Status)
	}
	one.do(one.request(t.Context(), http.MethodDelete, "")).Body.Close()
	if cause := <-b.causes; cause != errEnded {
		t.Error(cause)
	}
	b.release <- struct{}{}
	all.Wait()
}
