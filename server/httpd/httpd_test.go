package httpd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Who calls it by which name, and from which page.
func TestGuard(t *testing.T) {
	for name, test := range map[string]struct {
		local, host, origin string
		options             Options
		ok                  bool
	}{
		"localhost":             {"127.0.0.1:1", "localhost:1", "", Options{}, true},
		"IPv6":                  {"[::1]:1", "[::1]:1", "", Options{}, true},
		"no port":               {"127.0.0.1:1", "LOCALHOST", "", Options{}, true},
		"rebound":               {"127.0.0.1:1", "evil.example.com:1", "", Options{}, false},
		"allowed name":          {"127.0.0.1:1", "mine.example.com", "", Options{Access: Access{Hosts: []string{"Mine.example.com"}}}, true},
		"like a loopback":       {"127.0.0.1:1", "127.0.0.1.evil.example.com", "", Options{}, false},
		"any name elsewhere":    {"10.0.0.1:1", "server.lan", "", Options{}, true},
		"one name elsewhere":    {"10.0.0.1:1", "server.lan", "", Options{Access: Access{Hosts: []string{"other"}}}, false},
		"local page":            {"127.0.0.1:1", "localhost:1", "http://127.0.0.1:6274", Options{}, true},
		"local page elsewhere":  {"10.0.0.1:1", "server.lan", "http://localhost", Options{}, false},
		"own page":              {"10.0.0.1:1", "10.0.0.1:1", "http://10.0.0.1:1", Options{}, true},
		"own page by name":      {"10.0.0.1:1", "server.lan:1", "http://server.lan:1", Options{Access: Access{Hosts: []string{"server.lan"}}}, true},
		"rebound elsewhere":     {"10.0.0.1:1", "evil.example.com:1", "http://evil.example.com:1", Options{}, false},
		"strange page":          {"127.0.0.1:1", "localhost:1", "https://evil.example.com", Options{}, false},
		"page like a local one": {"127.0.0.1:1", "localhost:1", "http://localhost.evil.example.com", Options{}, false},
		"allowed page":          {"10.0.0.1:1", "server.lan", "https://app.example.com", Options{Access: Access{Origins: []string{"https://app.example.com/"}}}, true},
		"file":                  {"127.0.0.1:1", "localhost:1", "null", Options{}, false},
		"extension":             {"127.0.0.1:1", "localhost:1", "chrome-extension://localhost", Options{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			local, err := net.ResolveTCPAddr("tcp", test.local)
			if err != nil {
				t.Fatal(err)
			}
			s := New(&test.options)
			r := httptest.NewRequest("OPTIONS", "/", nil)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local)))
			r.Host = test.host
			r.Header.Set("Access-Control-Request-Method", "POST")
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if ok := w.Code != http.StatusForbidden; ok != test.ok {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if shared := w.Header().Get("Access-Control-Allow-Origin"); test.ok && shared != test.origin || !test.ok && shared != "" {
				t.Errorf("shared with %q", shared)
			}
		})
	}
}

// basic proves senders by their names alone.
type basic struct{ broken error }

func (b basic) Authenticate(r *http.Request) (identity.Principal, error) {
	name, _, ok := r.BasicAuth()
	switch {
	case b.broken != nil:
		return identity.Principal{}, b.broken
	case !ok:
		return identity.Principal{}, &identity.Challenge{Status: 403, Authenticate: `Basic realm="x"`, Message: "who are you?", Reason: "no name"}
	}
	return identity.Principal{Kind: identity.Token, ID: name}, nil
}

// who answers with the sender's key.
var who = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, string(identity.FromContext(r.Context()).Key()))
})

// What is mounted gets the principal, or nothing; probes need none.
func TestAuthenticate(t *testing.T) {
	named, broken := New(&Options{Authenticator: basic{}}), New(&Options{Authenticator: basic{errors.New("no issuer")}})
	open := New(nil)
	for _, s := range []*Server{named, broken, open} {
		s.Handle("/who", who)
	}
	for name, test := range map[string]struct {
		server     *Server
		path, user string
		status     int
		body       string
		challenge  string
	}{
		"a sender":            {named, "/who", "ann", 200, "token/ann", ""},
		"nobody":              {named, "/who", "", 403, "who are you?\n", `Basic realm="x"`},
		"a probe":             {named, HealthPath, "", 200, "ok\n", ""},
		"cannot be proved":    {broken, "/who", "ann", 503, "it cannot be found out who you are: try again later\n", ""},
		"without credentials": {open, "/who", "", 200, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "http://localhost"+test.path, nil)
			if test.user != "" {
				r.SetBasicAuth(test.user, "")
			}
			w := httptest.NewRecorder()
			test.server.ServeHTTP(w, r)
			if w.Code != test.status || w.Body.String() != test.body || w.Header().Get("WWW-Authenticate") != test.challenge {
				t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
			}
		})
	}
}

// A principal is remote unless its request can only be one of this machine.
func TestRemote(t *testing.T) {
	s := New(&Options{Access: Access{Hosts: []string{"skills.example"}}})
	s.Handle("/who", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, identity.FromContext(r.Context()).Remote)
	}))
	for name, test := range map[string]struct{ from, host, header, want string }{
		"this machine":             {"127.0.0.1:5", "localhost:80", "", "false"},
		"this machine, by IPv6":    {"[::1]:5", "[::1]", "", "false"},
		"another machine":          {"192.0.2.7:5", "skills.example", "", "true"},
		"a proxy":                  {"127.0.0.1:5", "localhost", "X-Forwarded-For", "true"},
		"a proxy with its header":  {"127.0.0.1:5", "localhost", "Forwarded", "true"},
		"a proxy after its client": {"127.0.0.1:5", "localhost", "Via", "true"},
		"a proxy with a name":      {"127.0.0.1:5", "skills.example", "", "true"},
	} {
		r := httptest.NewRequest("GET", "http://"+test.host+"/who", nil)
		if r.RemoteAddr = test.from; test.header != "" {
			r.Header[test.header] = []string{"", "for=192.0.2.7"} // the first is of its client
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Body.String() != test.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// The refusals of the server itself have the form that the options say.
func TestFail(t *testing.T) {
	s := New(&Options{Authenticator: basic{}, Fail: func(w http.ResponseWriter, r *http.Request, message string, status int) {
		w.WriteHeader(status)
		fmt.Fprint(w, r.URL.Path, ": ", message)
	}})
	s.Handle("/who", who)
	for address, want := range map[string]string{"http://localhost/who": "/who: who are you?", "http://evil.example.com/who": "/who: the server is not called"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", address, nil))
		if w.Code != http.StatusForbidden || !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("%s: %d %s", address, w.Code, w.Body)
		}
	}
}

// A preflight is answered with what pages may send, and needs no credentials.
func TestPreflight(t *testing.T) {
	s := New(&Options{Authenticator: basic{}, CORS: CORS{Methods: "GET, PATCH", Headers: "X-One", Exposed: "X-Two"}})
	s.Handle("/who", who)
	r := httptest.NewRequest("OPTIONS", "http://localhost/who", nil)
	r.Header.Set("Origin", "http://localhost:6274")
	r.Header.Set("Access-Control-Request-Method", "PATCH")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusNoContent {
		t.Error(w.Code)
	}
	for name, want := range map[string]string{
		"Allow-Origin": "http://localhost:6274", "Allow-Methods": "GET, PATCH", "Allow-Headers": "X-One", "Expose-Headers": "X-Two", "Max-Age": "600",
	} {
		if got := w.Header().Get("Access-Control-" + name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestProbes(t *testing.T) {
	s := New(&Options{Ready: func() error { return errors.New("not yet") }})
	probe := func(path string, status int) {
		t.Helper()
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "http://any.example.com"+path, nil))
		if w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	probe(HealthPath, 200)
	probe(ReadyPath, 503)
	if err := s.close(nil); err != nil {
		t.Error(err)
	}
	probe(HealthPath, 503)
}

// closer notes its end.
type closer struct {
	closed chan struct{}
	err    error
}

func (c *closer) Close() error { close(c.closed); return c.err }

// serve serves until the test's context ends.
func serve(t *testing.T, s *Server, mounted ...io.Closer) (address string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, mounted...) }()
	return l.Addr().String(), func() error {
		cancel()
		return <-ended
	}
}

// servePipes is serve without a network, where time is virtual.
func servePipes(t *testing.T, s *Server) (dial func() (net.Conn, error), stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	l := &pipeListener{conns: make(chan net.Conn)}
	l.ctx, l.end = context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	return l.dial, func() error {
		cancel()
		return <-ended
	}
}

// A pipeListener accepts the pipes of dial until it is closed, which ends ctx.
type pipeListener struct {
	conns chan net.Conn
	ctx   context.Context
	end   context.CancelFunc
}

func (l *pipeListener) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.end()
	return nil
}

func (*pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

// The end of a server ends what is mounted first: a request that would last for good
// is answered.
func TestServeEnds(t *testing.T) {
	s, c := New(nil), &closer{closed: make(chan struct{}), err: errors.New("left something behind")}
	begun := make(chan struct{})
	s.Handle("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-c.closed
		_, _ = io.WriteString(w, "done")
	}))
	address, stop := serve(t, s, c)
	answered := make(chan string, 1)
	go func() {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get("http://" + address)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answered <- string(body)
	}()
	<-begun
	if err := stop(); !errors.Is(err, c.err) {
		t.Error(err)
	}
	if got := <-answered; got != "done" {
		t.Error(got)
	}
}

// A listener that fails ends the server, with the reason.
func TestServeFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c := &closer{closed: make(chan struct{})}
	if err := New(nil).Serve(t.Context(), l, c); !errors.Is(err, net.ErrClosed) || !strings.HasPrefix(err.Error(), "serve HTTP: ") {
		t.Error(err)
	}
	<-c.closed
}

// The host of an absolute URL counts, not the header beside it.
func TestAbsoluteURL(t *testing.T) {
	s := New(nil)
	s.Handle("/who", who)
	address, stop := serve(t, s)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET http://evil.example.com/who HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if answer, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(answer, "403 Forbidden") {
		t.Errorf("%q, %v", answer, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// A client that does not send what it has announced is let go, whatever its request
// was answered with: net/http waits without end for what is left.
func TestSlowWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(nil)
		s.Handle("/who", who)
		dial, stop := servePipes(t, s)
		for _, request := range []string{
			"POST /who", "POST /none", "GET " + HealthPath, "POST /who HTTP/1.1\r\nOrigin: https://evil.example.com",
		} {
			c, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			line, more, _ := strings.Cut(request, " HTTP/1.1")
			fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: localhost%s\r\nContent-Length: 100\r\n\r\n", line, more)
			if _, err := io.Copy(io.Discard, c); err != nil { // until the server closes it
				t.Errorf("%s: %v", request, err)
			}
			if took := time.Since(began); took > s.options.Patience+time.Second {
				t.Errorf("%s: it was let go after %s", request, took)
			}
			c.Close()
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Without credentials, a page of another port is refused, and who connects must be the
// own user.
func TestOwnUser(t *testing.T) {
	s := New(&Options{OwnUser: true, Access: Access{Origins: []string{"http://localhost:4000"}}})
	s.Handle("/who", who)
	address, stop := serve(t, s)
	for origin, status := range map[string]int{"": 200, "http://" + address: 200, "http://localhost:4000": 200, "http://localhost:3000": 403, "http://127.0.0.1": 403, "null": 403} {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+"/who", nil)
		r.Header.Set("Origin", origin)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if shared := response.Header.Get("Access-Control-Allow-Origin"); response.StatusCode != status || (shared != "") != (origin != "" && status == 200) {
			t.Errorf("%q: %s, shared with %q", origin, response.Status, shared)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Error(err)
	}
	checks := 0
	for _, err := range []error{nil, errors.New("of another user")} {
		r := httptest.NewRequest("GET", "http://localhost/who", nil)
		r = r.WithContext(context.WithValue(r.Context(), peerKey{}, func() error { checks++; return err }))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if (w.Code == 200) != (err == nil) {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
	if checks != 2 {
		t.Errorf("%d checks", checks)
	}
}
