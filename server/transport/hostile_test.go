package transport

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// wantNothingLeft wants that no request, stream or busy session is left.
func (s *site) wantNothingLeft() {
	s.t.Helper()
	t := s.h.calls
	t.mu.Lock()
	defer t.mu.Unlock()
	if left := t.running + len(t.waiting) + t.held + t.streams + len(t.calls); left > 0 {
		s.t.Errorf("left are %d running and %d waiting calls of %d bytes, %d streams, %d ids", t.running, len(t.waiting), t.held, t.streams, len(t.calls))
	}
	sessions := s.h.legacy.sessions
	sessions.mu.Lock()
	defer sessions.mu.Unlock()
	for id, c := range sessions.byID {
		if c.busy > 0 {
			s.t.Errorf("session %s is busy with %d", id, c.busy)
		}
	}
}

// Clients that come and go at any point leave nothing behind.
func TestConnectsAndDrops(t *testing.T) {
	const drops, atOnce = 10_000, 50
	b := newBench()
	s := serveHTTP(t, b.backend(), nil)
	id := initialized(t, s.h) // by no connection: those are counted
	session := "Mcp-Session-Id: " + id + "\r\n"
	call := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"progress","arguments":{"n":10},"_meta":{"progressToken":%d}}}`, id, id)
	}
	listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	stages := []func(i int) (send string, answered bool){
		func(int) (string, bool) { return "", false },
		func(int) (string, bool) { return "POST /mcp HTTP/1.1\r\nHost: local", false },
		func(int) (string, bool) { return posts(100, session) + `{"jsonrpc":`, false },
		func(i int) (string, bool) { return posts(len(call(i)), session) + call(i), false },
		func(i int) (string, bool) { return posts(len(call(i)), session) + call(i), true },
		func(int) (string, bool) { return "GET /mcp HTTP/1.1\r\nHost: localhost\r\n" + session + "\r\n", true },
		func(int) (string, bool) {
			return posts(len(listen), "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n") + listen, true
		},
		func(int) (string, bool) { return "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", false }, // of TLS
	}
	numbers := make(chan int, drops)
	for i := range drops {
		numbers <- i
	}
	close(numbers)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := range numbers {
				if err := s.drop(stages[i%len(stages)](1000 + i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for range drops {
		<-s.closed
	}
	s.wantNothingLeft()
	if w := direct(s.h, t.Context(), "POST", id, pinging); w.Code != http.StatusOK {
		t.Errorf("it does not answer any more: %d %s", w.Code, w.Body)
	}
	if n := len(s.h.legacy.sessions.byID); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// drop connects, sends, takes the beginning of an answer where there is one, and
// is gone.
func (s *site) drop(send string, answered bool) error {
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.(*net.TCPConn).SetLinger(0) // ten thousand of them would wait for their time to pass
	if _, err := io.WriteString(c, send); err != nil {
		return nil // it has hung up first
	}
	if answered {
		_, _ = c.Read(make([]byte, 16))
	}
	return nil
}

// Sessions are bounded, however many begin; mcp-go is told of each that ends.
func TestManySessions(t *testing.T) {
	const begun, most = 10_000, 100
	hooks, ended := &mcpserver.Hooks{}, make(chan struct{}, begun)
	hooks.AddOnUnregisterSession(func(context.Context, mcpserver.ClientSession) { ended <- struct{}{} })
	h := NewHTTP(newBench(mcpserver.WithHooks(hooks)).backend(), &Options{bounds: bounds{sessions: most}})
	last := ""
	for range begun {
		last = initialized(t, h)
	}
	for range begun - most {
		<-ended
	}
	if n := len(h.legacy.sessions.byID); n != most {
		t.Errorf("%d sessions", n)
	}
	if w := direct(h, t.Context(), "POST", last, pinging); w.Code != http.StatusOK {
		t.Errorf("the last: %d %s", w.Code, w.Body)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	for range most {
		<-ended
	}
}

// What HTTP allows and few clients do.
func TestStrangeHTTP(t *testing.T) {
	s := serveHTTP(t, newBench().backend(), nil)
	session := "Mcp-Session-Id: " + s.legacy("{}").header.Get(SessionHeader) + "\r\n"
	ping := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id) }
	pong := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) }
	one := posts(len(ping(1)), session) + ping(1)
	chunked := strings.Replace(posts(0, session), "Content-Length: 0", "Transfer-Encoding: chunked", 1)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(ping(1)))
	z.Close()
	for name, test := range map[string]struct {
		send string
		want []string // in order
	}{
		"HTTP/1.0":            {strings.Replace(one, "HTTP/1.1", "HTTP/1.0", 1), []string{"200 OK", pong(1)}},
		"pipelined":           {one + strings.ReplaceAll(one, `"id":1`, `"id":2`) + strings.ReplaceAll(one, `"id":1`, `"id":3`), []string{pong(1), pong(2), pong(3)}},
		"chunks and trailers": {strings.Replace(chunked, "\r\n\r\n", "\r\nTrailer: X\r\n\r\n", 1) + fmt.Sprintf("8\r\n%s\r\n%x\r\n%s\r\n0\r\nX: 1\r\n\r\n", ping(1)[:8], len(ping(1))-8, ping(1)[8:]), []string{"200 OK", pong(1)}},
		"a wrong chunk":       {chunked + "zz\r\n", []string{"400 Bad Request"}},
		"100-continue":        {posts(len(ping(1)), session, "Expect: 100-continue\r\n") + ping(1), []string{"100 Continue", "200 OK", pong(1)}},
		"another expectation": {posts(len(ping(1)), session, "Expect: more\r\n") + ping(1), []string{"417 "}},
		"compressed":          {posts(zipped.Len(), session, "Content-Encoding: gzip\r\n") + zipped.String(), []string{"415 "}},
		"not compressed":      {posts(len(ping(1)), session, "Content-Encoding: identity\r\n") + ping(1), []string{"200 OK", pong(1)}},
		"two lengths":         {strings.Replace(one, "Content-Length", "Content-Length: 3\r\nContent-Length", 1), []string{"400 Bad Request"}},
		"a length and chunks": {strings.Replace(one, "Content-Length", "Transfer-Encoding: chunked\r\nContent-Length", 1) + "\r\n", []string{"400 Bad Request"}},
		"a negative length":   {strings.Replace(one, "Content-Length: ", "Content-Length: -", 1), []string{"400 Bad Request"}},
		"a long header":       {posts(1, "X: "+strings.Repeat("x", 2<<20)+"\r\n"), []string{"431 "}},
		"many headers":        {posts(1, strings.Repeat("X: x\r\n", 300_000)), []string{"431 "}},
		"a header with NUL":   {posts(1, "X: \x00\r\n") + "x", []string{"400 Bad Request"}},
		"no host":             {strings.Replace(one, "Host: localhost\r\n", "", 1), []string{"400 Bad Request"}},
		"two hosts":           {strings.Replace(one, "Host: localhost\r\n", "Host: localhost\r\nHost: evil\r\n", 1), []string{"400 Bad Request"}},
		"a path with dots":    {strings.Replace(one, "POST /mcp", "POST /x/../mcp", 1), []string{"307 "}},
	} {
		t.Run(name, func(t *testing.T) {
			c := s.raw()
			go func() {
				_, _ = io.WriteString(c, test.send) // the server may hang up first
			}()
			rest := readAll(c, test.want)
			if rest != "" {
				t.Errorf("no %q in the answer", rest)
			}
		})
	}
	s.wantNothingLeft()
}

// readAll reads until all texts have come in order, or the end, and returns the
// first that has not.
func readAll(c net.Conn, want []string) (missing string) {
	lines := bufio.NewReader(c)
	for len(want) > 0 {
		line, err := lines.ReadString('\n')
		for len(want) > 0 && strings.Contains(line, want[0]) {
			want = want[1:]
		}
		if err != nil {
			break
		}
	}
	return strings.Join(want, ", ")
}

// A client that ends its half of the connection after a request gets an answer, or
// the end of the connection.
func TestHalfClosed(t *testing.T) {
	b := newBench()
	s := serveHTTP(t, b.backend(), nil)
	session := "Mcp-Session-Id: " + s.legacy("{}").header.Get(SessionHeader) + "\r\n"
	for name, send := range map[string]string{
		"nothing":    "",
		"half":       posts(100, session) + `{"json`,
		"a request":  posts(len(pinging), session) + pinging,
		"a stream":   "GET /mcp HTTP/1.1\r\nHost: localhost\r\n" + session + "\r\n",
		"a long one": posts(len(blocking), session) + blocking,
	} {
		t.Run(name, func(t *testing.T) {
			c := s.raw()
			io.WriteString(c, send)
			if name == "a long one" { // which would be cancelled before it has begun
				<-b.started
			}
			c.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, c)
		})
	}
	<-b.causes // the long one was cancelled
	s.wantNothingLeft()
}

const blocking = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"block"}}`

// A client whose connection broke may send its request again, with the same id,
// while the handler still winds up.
func TestIDIsFreeAfterADrop(t *testing.T) {
	release := make(chan struct{})
	b := newBench()
	b.AddTool(stay(release))
	s := serveHTTP(t, b.backend(), nil)
	session := "Mcp-Session-Id: " + initialized(t, s.h) + "\r\n"
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stay","_meta":{"progressToken":1}}}`
	send := func() net.Conn {
		c := s.raw()
		io.WriteString(c, posts(len(body), session)+body)
		return c
	}
	first := send()
	for s.h.calls.count() < 1 {
		runtime.Gosched()
	}
	first.Close()
	for s.h.calls.has(strings.TrimSpace(strings.TrimPrefix(session, "Mcp-Session-Id:")) + " 1") {
		runtime.Gosched()
	}
	second := send()
	for s.h.calls.count() < 2 {
		runtime.Gosched()
	}
	close(release)
	if missing := readAll(second, []string{"200 OK", "at last"}); missing != "" {
		t.Errorf("no %s in the answer", missing)
	}
}
