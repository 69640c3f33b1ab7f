package egress

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// shared is a gateway that serves until the test ends.
type shared struct {
	*Gateway
	t *testing.T
	w *world
}

func startGateway(t *testing.T, w *world) *shared {
	t.Helper()
	g := NewGateway(listen(t))
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return &shared{g, t, w}
}

// proxy serves a proxy for a sandbox to hosts. It returns the address with the token.
func (s *shared) proxy(hosts []string, from ...netip.Addr) (p *Proxy, address string, end func()) {
	s.t.Helper()
	p, err := New(sandbox.Grant{Hosts: hosts}, &Options{Resolver: s.w, Dial: s.w.dial})
	if err != nil {
		s.t.Fatal(err)
	}
	listener, userinfo := s.Open(from...)
	var served sync.WaitGroup
	served.Go(func() {
		if err := p.Serve(listener); err != nil {
			s.t.Errorf("Serve: %v", err)
		}
	})
	end = sync.OnceFunc(func() {
		_ = listener.Close()
		_ = p.Close()
		served.Wait()
	})
	s.t.Cleanup(end)
	return p, userinfo + "@" + listener.Addr().String(), end
}

// ask sends a request for a URL over a new connection. userinfo may be "".
func (s *shared) ask(address, to string) (status, body string) {
	s.t.Helper()
	userinfo, host, found := strings.Cut(address, "@")
	if !found {
		userinfo, host = "", address
	}
	conn, err := net.Dial("tcp", host)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	request := "GET " + to + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	if userinfo != "" {
		request += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(userinfo)) + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		s.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.Status, text(s.t, response.Body)
}

// A token reaches the hosts of its own sandbox, as long as that lasts, and from its address.
func TestGatewayKeepsSandboxesApart(t *testing.T) {
	s := startGateway(t, api(t))
	one, oneAt, endOne := s.proxy([]string{"api.example.com"})
	two, twoAt, _ := s.proxy([]string{"other.example.com"}, netip.MustParseAddr("127.0.0.1"))
	elsewhere, elsewhereAt, _ := s.proxy([]string{"api.example.com"}, netip.MustParseAddr("192.0.2.7"))
	_, plain, _ := strings.Cut(oneAt, "@")

	const toAPI, toOther = "http://api.example.com/", "http://other.example.com/"
	for _, c := range []struct{ name, address, to, status, body string }{
		{"the first", oneAt, toAPI, "200", "GET api.example.com /"}, // without Proxy-Authorization
		{"the second", twoAt, toOther, "200", "GET other.example.com /"},
		{"the first at the second's host", oneAt, toOther, "403", "not among the hosts"},
		{"the second at the first's host", twoAt, toAPI, "403", "not among the hosts"},
		{"no token", plain, toAPI, "407", "hosts"},
		{"a guess", "run:ABCDEFGHIJKLMNOPQRSTUVWXYZ@" + plain, toAPI, "403", "token"},
		{"an empty token", "run:@" + plain, toAPI, "403", "token"},
		{"a token from another address", elsewhereAt, toAPI, "403", "token"},
	} {
		status, body := s.ask(c.address, c.to)
		if !strings.HasPrefix(status, c.status) || !strings.Contains(body, c.body) || strings.Contains(body, "Proxy-Authorization") {
			t.Errorf("%s: %s %q, want %s with %q", c.name, status, body, c.status, c.body)
		}
	}
	endOne()
	if status, body := s.ask(oneAt, toAPI); !strings.HasPrefix(status, "403") {
		t.Errorf("a token that has ended: %s %q", status, body)
	}
	for name, c := range map[string]struct {
		*Proxy
		want int
	}{"first": {one, 2}, "second": {two, 2}, "elsewhere": {elsewhere, 0}} {
		if found := c.Connections(); len(found) != c.want {
			t.Errorf("the %s has the connections %v, want %d", name, found, c.want)
		}
	}
}

// A sandbox that opens connections and sends nothing keeps no other one waiting.
func TestGatewayBoundsSilentConnections(t *testing.T) {
	s := startGateway(t, api(t))
	_, address, _ := s.proxy([]string{"api.example.com"})
	from := netip.MustParseAddr("192.0.2.7")
	for i := range maxReadingPeer {
		if !s.enter(from) {
			t.Fatalf("connection %d was turned away", i)
		}
		defer s.exit(from)
	}
	if s.enter(from) {
		t.Error("an address may have more than its share")
	}
	if status, _ := s.ask(address, "http://api.example.com/"); !strings.HasPrefix(status, "200") {
		t.Errorf("another address: %s", status)
	}
}

// A head that does not end, and a connection that the proxy has no room for, are refused.
func TestGatewayBoundsHeads(t *testing.T) {
	s := startGateway(t, api(t))
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.Copy(conn, io.LimitReader(endless{}, 2*maxHeader)) // until it is closed
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Minute))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a head without an end was answered")
	}
	listener, userinfo := s.Open() // which nobody accepts from
	defer listener.Close()
	address := userinfo + "@" + listener.Addr().String()
	l := listener.(*sharedListener)
	for range maxHanded {
		one, other := net.Pipe()
		defer other.Close()
		if !l.hand(one) {
			t.Fatal("a connection was turned away")
		}
	}
	if status, _ := s.ask(address, "http://api.example.com/"); !strings.HasPrefix(status, "503") {
		t.Errorf("one more: %s", status)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte("GET a"), len(p)/5+1)), nil
}

// Programs find their token in the variables of [Environ], and send it.
func TestGatewayRealClients(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.Host) })
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	w := newWorld()
	w.names["api.example.com"] = []string{apiAddress}
	w.servers[apiAddress+":80"], w.servers[apiAddress+":443"] = plain.Listener.Addr().String(), secure.Listener.Addr().String()
	s := startGateway(t, w)
	const (
		urllib   = `import ssl, sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], context=ssl._create_unverified_context()).read().decode())`
		requests = `import sys, requests; print(requests.get(sys.argv[1], verify=False).text)`
		fetch    = `fetch(process.argv[1]).then(r => r.text()).then(console.log, e => console.log(String(e.cause ?? e)))`
	)
	for name, c := range map[string]struct {
		probe []string // its success says that the client is there
		args  []string // before the URL
	}{
		"curl":     {[]string{"curl", "--version"}, []string{"curl", "-sSk"}},
		"urllib":   {[]string{"python3", "--version"}, []string{"python3", "-c", urllib}},
		"requests": {[]string{"python3", "-c", "import requests"}, []string{"python3", "-W", "ignore", "-c", requests}},
		"pip":      {[]string{"python3", "-m", "pip", "--version"}, []string{"python3", "-m", "pip", "download", "--no-input", "--trusted-host", "api.example.com", "--retries", "0", "nothing", "--index-url"}},
		"git":      {[]string{"git", "--version"}, []string{"git", "-c", "http.sslVerify=false", "ls-remote"}},
		"npm":      {[]string{"npm", "--version"}, []string{"npm", "view", "nothing", "--fetch-retries=0", "--strict-ssl=false", "--registry"}},
		// Older ones heed no variable.
		"node": {[]string{"node", "--eval", "if (process.versions.node.split('.')[0] < 24) process.exit(1)"}, []string{"node", "--eval", fetch}},
	} {
		if err := exec.Command(c.probe[0], c.probe[1:]...).Run(); err != nil {
			t.Logf("SKIPPED: %s: %v", name, err)
			continue
		}
		for _, scheme := range []string{"http", "https"} {
			p, address, end := s.proxy([]string{"api.example.com"})
			cmd := exec.Command(c.args[0], append(c.args[1:], scheme+"://api.example.com/")...)
			cmd.Env = append(Environ(address), "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "NODE_TLS_REJECT_UNAUTHORIZED=0", "GIT_TERMINAL_PROMPT=0")
			cmd.Dir = t.TempDir()
			out, _ := cmd.CombinedOutput() // the host is no registry
			end()
			if found := p.Connections(); len(found) == 0 || found[0].Refused != "" || found[0].Got == 0 {
				t.Errorf("%s %s made the connections %v, and said\n%s", name, scheme, found, out)
			}
		}
	}
}
