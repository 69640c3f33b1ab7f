package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// site is an HTTP server under test.
type site struct {
	t      testing.TB
	h      *HTTP
	url    string
	client *http.Client
	dial   func() (net.Conn, error)
	over   func() // called after each request, where it is set

	closed chan struct{} // gets a value for each connection that ends
}

func serveHTTP(t testing.TB, b Backend, options *Options) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(l, t, b, options, http.DefaultClient, func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) })
}

// servePipes is serveHTTP without a network, where time is virtual. Its connections hold
// nothing that the other side does not read.
func servePipes(t testing.TB, b Backend, options *Options) *site {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return l.dial() }}}
	return serveOn(l, t, b, options, client, l.dial)
}

// A pipeListener accepts the pipes of dial.
type pipeListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{} // closed by Close
}

func (l *pipeListener) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (*pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// serveOn serves on l, of which client and dial make connections.
func serveOn(l net.Listener, t testing.TB, b Backend, options *Options, client *http.Client, dial func() (net.Conn, error)) *site {
	h := NewHTTP(b, options)
	site := &site{t: t, h: h, client: client, dial: dial, closed: make(chan struct{}, 100_000)}
	mux := http.NewServeMux()
	mux.Handle(Path, h)
	stream, messages := h.SSE()
	mux.Handle(SSEPath, stream)
	mux.Handle(MessagePath, messages)
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r)
		if site.over != nil {
			site.over()
		}
	})}}
	s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(16 << 10) // what a slow client does not take is felt soon
		}
		return ctx
	}
	s.Config.ReadTimeout, s.Config.WriteTimeout = h.options.bounds.patience, h.options.bounds.patience
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			site.closed <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		s.Close()
		client.CloseIdleConnections()
	})
	site.url = s.URL
	return site
}

// visitor is one client of a site.
type visitor struct {
	*site
	header http.Header
	last   atomic.Int64
}

// modern returns a client of the modern protocol.
func (s *site) modern() *visitor {
	return &visitor{site: s, header: http.Header{"Mcp-Protocol-Version": {"2026-07-28"}}}
}

// legacy returns a client that has initialized, with these capabilities.
func (s *site) legacy(capabilities string) *visitor {
	s.t.Helper()
	v := &visitor{site: s, header: http.Header{}}
	response := v.post(strings.Replace(hello, `"capabilities":{}`, `"capabilities":`+capabilities, 1))
	defer response.Body.Close()
	v.header.Set(SessionHeader, response.Header.Get(SessionHeader))
	if response.StatusCode != http.StatusOK || v.header.Get(SessionHeader) == "" {
		s.t.Fatalf("initialize: %s", response.Status)
	}
	v.note("notifications/initialized", "{}")
	return v
}

// request returns a request with the client's headers.
func (v *visitor) request(ctx context.Context, method, body string) *http.Request {
	v.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, v.url+Path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header = v.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return r
}

func (v *visitor) do(r *http.Request) *http.Response {
	v.t.Helper()
	response, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	return response
}

func (v *visitor) post(body string) *http.Response {
	v.t.Helper()
	return v.do(v.request(v.t.Context(), http.MethodPost, body))
}

// message is a request with the modern headers and _meta, where they belong.
func (v *visitor) message(ctx context.Context, id, method, params string) *http.Request {
	v.t.Helper()
	if v.header.Get(versionHeader) != "" {
		params = strings.TrimSuffix(params, "}")
		if params != "{" {
			params += ","
		}
		params += modernMeta + "}"
	}
	r := v.request(ctx, http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	if v.header.Get(versionHeader) != "" {
		r.Header.Set("Mcp-Method", method)
		var named struct{ Name, URI string }
		json.Unmarshal([]byte(params), &named)
		if named.Name+named.URI != "" {
			r.Header.Set("Mcp-Name", named.Name+named.URI)
		}
	}
	return r
}

// ask sends a request and returns all that comes on its stream.
func (v *visitor) ask(method, params string) *replies {
	v.t.Helper()
	return v.read(v.do(v.message(v.t.Context(), fmt.Sprint(v.last.Add(1)), method, params)))
}

func (v *visitor) call(tool, arguments string, more ...string) *replies {
	v.t.Helper()
	return v.ask("tools/call", callParams(tool, arguments, more...))
}

func callParams(tool, arguments string, more ...string) string {
	return strings.Join(append([]string{fmt.Sprintf(`{"name":%q,"arguments":%s`, tool, arguments)}, more...), ",") + "}"
}

// note sends a notification.
func (v *visitor) note(method, params string) {
	v.t.Helper()
	response := v.post(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
	response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		v.t.Fatalf("%s: %s", method, response.Status)
	}
}

// replies is the answer to one HTTP request, message by message.
type replies struct {
	t      testing.TB
	status int
	kind   string // of the content
	header http.Header
	lines  *bufio.Reader
	body   io.Closer
}

func (v *visitor) read(r *http.Response) *replies {
	v.t.Cleanup(func() { r.Body.Close() })
	return &replies{v.t, r.StatusCode, r.Header.Get("Content-Type"), r.Header, bufio.NewReader(r.Body), r.Body}
}

// next returns the next message. Comments keep the stream alive.
func (r *replies) next() (m reply, err error) {
	for {
		line, err := r.lines.ReadString('\n')
		data, isData := strings.CutPrefix(line, "data: ")
		isData = isData && data != "\n" // which only gives an id
		if r.kind == "application/json" {
			data, isData = line, strings.TrimSpace(line) != ""
		}
		if isData {
			return m, json.Unmarshal([]byte(data), &m)
		}
		if err != nil {
			return m, err
		}
	}
}

func (r *replies) want(s string) {
	r.t.Helper()
	got, err := r.next()
	if err != nil {
		r.t.Fatalf("no message, but %v (status %d); want %s", err, r.status, s)
	}
	if got.String() != s {
		r.t.Fatalf("got %s\nwant %s", got, s)
	}
}

// wantEnd takes the end of the answer.
func (r *replies) wantEnd() {
	r.t.Helper()
	if m, err := r.next(); err != io.EOF {
		r.t.Fatalf("got %v, %v; want the end", m, err)
	}
	r.body.Close()
}

// wantNothing wants the specified answer to a cancelled request: a stream without a
// message.
func (r *replies) wantNothing() {
	r.t.Helper()
	if r.status != http.StatusOK || r.kind != "text/event-stream" {
		r.t.Errorf("status %d, content %q", r.status, r.kind)
	}
	r.wantEnd()
}

// modernText is a tool's result for a modern client.
func modernText(id, s string) string {
	return fmt.Sprintf(`%s: {"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}},"content":[{"type":"text","text":%q}],"resultType":"complete"}`, id, s)
}
