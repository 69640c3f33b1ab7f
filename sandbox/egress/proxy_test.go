package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Addresses of the tests' internet. They are public.
const (
	apiAddress   = "93.184.216.34"
	otherAddress = "93.184.216.35"
)

// api is a world with a host api.example.com that says hello at port 80 and
// echoes at 443, and with other.example.com, which does the same.
func api(t *testing.T) *world {
	t.Helper()
	w := newWorld()
	w.names["api.example.com"] = []string{apiAddress}
	w.names["other.example.com"] = []string{otherAddress}
	for _, address := range []string{apiAddress, otherAddress} {
		w.serve(t, address+":80", hello)
		w.serve(t, address+":443", echo)
	}
	return w
}

func TestForwardsRequests(t *testing.T) {
	p := start(t, api(t), nil, "api.example.com")
	status, body := p.get("http://API.example.com./v1/things?x=1;y")
	if want := `GET api.example.com /v1/things?x=1;y "" Connection=close`; status != 200 || body != want {
		t.Errorf("%d %s, want %s", status, body, want)
	}
}

func TestTunnels(t *testing.T) {
	p := start(t, api(t), nil, "api.example.com:443")
	reader, conn := p.connect("api.example.com:443")
	for _, line := range []string{"\x17\x03\x01 hello\n", "again\n"} {
		if _, err := io.WriteString(conn, line); err != nil {
			t.Fatal(err)
		}
		if got, err := reader.ReadString('\n'); got != line || err != nil {
			t.Errorf("%q came back as %q, %v", line, got, err)
		}
	}
	// The end of one direction is passed on, and the rest of the other comes.
	if _, err := io.WriteString(conn, "the last"); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := text(t, reader); got != "the last" {
		t.Errorf("after the end came %q", got)
	}
}

// Bytes that a client sends right after CONNECT, before the response, are relayed.
func TestTunnelsEarlyData(t *testing.T) {
	p := start(t, api(t), nil, "api.example.com:443")
	response, reader, conn := p.say("CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\nearly\n")
	if response.StatusCode != 200 {
		t.Fatal(response.Status)
	}
	if got, err := reader.ReadString('\n'); got != "early\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	_ = conn.Close()
}

func TestRefusesHosts(t *testing.T) {
	w := api(t)
	p := start(t, w, nil, "api.example.com:443", "*.sub.example.com:80")
	for _, target := range []string{
		"other.example.com:443", "api.example.com:22", "api.example.com:80", "x.api.example.com:443", "sub.example.com:80",
		apiAddress + ":443", "127.0.0.1:443", "169.254.169.254:80", "[::1]:443", "localhost:443",
	} {
		response, reader, _ := p.say("CONNECT " + target + " HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n")
		want := fmt.Sprintf("skills-mcp: %s is not among the hosts that this skill was granted: api.example.com:443, *.sub.example.com:80", target)
		if response.StatusCode != 403 || response.Status != "403 "+want {
			t.Errorf("CONNECT %s: %s", target, response.Status)
		}
		if got := text(t, io.LimitReader(reader, response.ContentLength)); got != want+"\n" {
			t.Errorf("CONNECT %s: body %q", target, got)
		}
		status, body := p.get("http://" + target + "/")
		if status != 403 || body != want+"\n" {
			t.Errorf("GET %s: %d %s", target, status, body)
		}
	}
	if dialed := w.wasDialed(); len(dialed) > 0 || w.lookups > 0 {
		t.Errorf("there were %d look-ups, and connections to %q", w.lookups, dialed)
	}
}

func TestGrantsNothingWithoutRules(t *testing.T) {
	p := start(t, api(t), nil)
	if status, body := p.get("http://api.example.com/"); status != 403 || !strings.HasSuffix(body, "granted: none\n") {
		t.Errorf("%d %s", status, body)
	}
}

func TestNewRefusesBadRules(t *testing.T) {
	if _, err := New(sandbox.Grant{Hosts: []string{"api.example.com", "https://api.example.com"}}, nil); err == nil || !strings.Contains(err.Error(), "without") {
		t.Errorf("%v", err)
	}
}

// A granted name does not lead to addresses that are not public.
func TestRefusesPrivateAddresses(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "0.0.0.0"} {
		w := newWorld()
		w.names["api.example.com"] = []string{address}
		p := start(t, w, &Options{Private: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}}, "api.example.com:80")
		status, body := p.get("http://api.example.com/")
		if status != 403 || !strings.HasPrefix(body, "skills-mcp: api.example.com:80 is not reached: its address is ") {
			t.Errorf("%s: %d %s", address, status, body)
		}
		if strings.Contains(body, address) {
			t.Errorf("the skill is told the address: %s", body)
		}
		connections := p.Connections()
		if len(connections) != 1 || !strings.HasSuffix(connections[0].Refused, "("+address+")") {
			t.Errorf("%s: recorded %+v", address, connections)
		}
		if dialed := w.wasDialed(); len(dialed) > 0 {
			t.Errorf("%s: connected to %q", address, dialed)
		}
	}
}

// This machine's own public addresses are refused, unless the operator allows them.
func TestRefusesOwnAddresses(t *testing.T) {
	for _, test := range []struct {
		rule, private string
		want          int
	}{
		{"api.example.com:80", apiAddress + "/32", 403},
		{apiAddress + ":80", "10.0.0.0/8", 403},
		{apiAddress + ":80", apiAddress + "/32", 200},
		{"other.example.com:80", "10.0.0.0/8", 200},
	} {
		p, listener := unstarted(t, api(t), &Options{Private: []netip.Prefix{netip.MustParsePrefix(test.private)}}, test.rule)
		p.connector.own = func() ([]net.Addr, error) {
			return []net.Addr{&net.IPNet{IP: net.ParseIP(apiAddress), Mask: net.CIDRMask(24, 32)}}, nil
		}
		p.serve(listener)
		if status, body := p.get("http://" + test.rule + "/"); status != test.want {
			t.Errorf("%s with %s: %d %s", test.rule, test.private, status, body)
		}
	}
}

// Of several addresses only the public ones are connected to, one after the
// other until one answers.
func TestTriesPublicAddresses(t *testing.T) {
	w := api(t)
	w.names["api.example.com"] = []string{"10.0.0.1 93.184.216.99 127.0.0.1 " + apiAddress}
	p := start(t, w, nil, "api.example.com:80")
	if status, body := p.get("http://api.example.com/"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if diff := cmp.Diff([]string{"93.184.216.99:80", apiAddress + ":80"}, w.wasDialed()); diff != "" {
		t.Error(diff)
	}
}

// A name that resolves to something else when it is asked for again gains
// nothing: the address that was checked is the one that is connected to.
func TestRebinding(t *testing.T) {
	w := api(t)
	w.names["api.example.com"] = []string{apiAddress, "127.0.0.1"}
	p := start(t, w, nil, "api.example.com:80")
	if status, body := p.get("http://api.example.com/first"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if status, body := p.get("http://api.example.com/second"); status != 403 {
		t.Errorf("%d %s", status, body)
	}
	if diff := cmp.Diff([]string{apiAddress + ":80"}, w.wasDialed()); diff != "" {
		t.Error(diff)
	}
	if w.lookups != 2 {
		t.Errorf("%d look-ups for two connections", w.lookups)
	}
}

// An address that a rule names may be private where the operator allows it.
func TestPrivateAddressesByRule(t *testing.T) {
	for _, test := range []struct {
		private string
		want    int
	}{{"10.1.0.0/16", 200}, {"10.2.0.0/16", 403}} {
		w := newWorld()
		w.serve(t, "10.1.2.3:8080", hello)
		p := start(t, w, &Options{Private: []netip.Prefix{netip.MustParsePrefix(test.private)}}, "10.1.2.3:8080")
		if status, body := p.get("http://10.1.2.3:8080/"); status != test.want {
			t.Errorf("with %s: %d %s", test.private, status, body)
		}
	}
}

// The proxy follows no redirect; a request of the client that follows one is checked.
func TestRedirects(t *testing.T) {
	w := api(t)
	w.serve(t, apiAddress+":8080", func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/meta-data\r\nContent-Length: 0\r\n\r\n")
		}
	})
	p := start(t, w, nil, "api.example.com:8080")
	status, body := p.get("http://api.example.com:8080/")
	if status != 403 || !strings.Contains(body, "169.254.169.254:80 is not among the hosts") {
		t.Errorf("%d %s", status, body)
	}
}

// Each request of a connection is checked, and goes where its URL says.
func TestChangedHost(t *testing.T) {
	p := start(t, api(t), nil, "api.example.com:80")
	response, reader, conn := p.say("GET http://api.example.com/1 HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
	if got := text(t, io.LimitReader(response.Body, 1000)); got != `GET api.example.com /1 "" Connection=close` {
		t.Fatalf("%s %s", response.Status, got)
	}
	if _, err := io.WriteString(conn, "GET http://other.example.com/2 HTTP/1.1\r\nHost: api.example.com\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != 403 {
		t.Errorf("%v, %v", response, err)
	}
}

// The Host header does not choose another site of the same server, and header
// fields for the proxy are not for the host.
func TestHeaders(t *testing.T) {
	p := start(t, api(t), nil, "api.example.com:80")
	response, _, _ := p.say("POST http://api.example.com/ HTTP/1.1\r\nHost: other.example.com\r\n" +
		"Proxy-Authorization: Basic eDp5\r\nConnection: X-Hop, close\r\nX-Hop: secret\r\nContent-Length: 3\r\n\r\nabc")
	if got, want := text(t, response.Body), `POST api.example.com / "abc" Connection=close`; got != want {
		t.Errorf("the host saw %s, want %s", got, want)
	}
}

// An upgraded connection is a tunnel to the host that was asked for, and ends
// with the proxy.
func TestUpgrade(t *testing.T) {
	w := api(t)
	w.serve(t, apiAddress+":8080", func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		if r, err := http.ReadRequest(reader); err == nil && r.Header.Get("Upgrade") == "websocket" {
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			_, _ = io.Copy(conn, reader)
		}
	})
	p := start(t, w, nil, "api.example.com:8080")
	response, reader, conn := p.say("GET http://api.example.com:8080/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if response.StatusCode != 101 {
		t.Fatal(response.Status)
	}
	if _, err := io.WriteString(conn, "ping\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := reader.ReadString('\n'); got != "ping\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the connection is open after Close")
	}
	if c := p.Connections(); len(c) != 1 || c[0].Sent == 0 || c[0].Got == 0 {
		t.Errorf("recorded %+v", c)
	}
}

// A body that looks like a request is a body, whatever lengths are claimed.
func TestSmuggling(t *testing.T) {
	const hidden = "GET http://other.example.com/ HTTP/1.1\r\nHost: other.example.com\r\n\r\n"
	for name, request := range map[string]string{
		"both lengths":       "POST http://api.example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		"two lengths":        "POST http://api.example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n" + hidden,
		"unknown encoding":   "POST http://api.example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n" + hidden,
		"space before colon": "POST http://api.example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\n" + hidden,
	} {
		w := api(t)
		p := start(t, w, nil, "api.example.com:80")
		_, _, conn := p.say(request)
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, conn)
		if dialed := w.wasDialed(); slices.Contains(dialed, otherAddress+":80") || len(dialed) > 1 {
			t.Errorf("%s: connected to %q", name, dialed)
		}
	}
}

func TestBadRequests(t *testing.T) {
	w := api(t)
	p := start(t, w, nil, "api.example.com")
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n":                                                                   "400 this is a proxy",
		"OPTIONS * HTTP/1.1\r\nHost: api.example.com\r\n\r\n":                                                               "400 this is a proxy",
		"GET https://api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n":                                                          "400 the scheme",
		"GET ftp://api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n":                                                            "400 the scheme",
		"GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n":                                                                "400 the scheme",
		"GET http:///x HTTP/1.1\r\nHost: api.example.com\r\n\r\n":                                                           "400 ",
		"GET http://api.example.com:99999/ HTTP/1.1\r\nHost: x\r\n\r\n":                                                     "400 ",
		"GET http://*.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n":                                                             "400 ",
		"GET http://[fe80::1%25eth0]/ HTTP/1.1\r\nHost: x\r\n\r\n":                                                          "400 ",
		"GET http://2130706433/ HTTP/1.1\r\nHost: x\r\n\r\n":                                                                "400 ",
		"CONNECT /x HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n":                                                          "400 ",
		"CONNECT api.example.com:443/x HTTP/1.1\r\nHost: x\r\n\r\n":                                                         "400 ",
		"CONNECT user@api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n":                                                      "400 ",
		"CONNECT *.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n":                                                             "400 ",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                                                                  "400 this is a proxy",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello\r\n\r\n":                                                  "400 ",
		"SSH-2.0-OpenSSH_9.9\r\n":                                                                                           "400 ",
		"GET http://api.example.com/ HTTP/1.1\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 100) + "\r\n": "431 ",
	} {
		response, _, _ := p.say(request)
		got := fmt.Sprintf("%d %s", response.StatusCode, strings.TrimPrefix(text(t, response.Body), "skills-mcp: "))
		if !strings.HasPrefix(got, want) {
			t.Errorf("%.60q: %s, want %s…", request, got, want)
		}
	}
	if dialed := w.wasDialed(); len(dialed) > 0 {
		t.Errorf("connected to %q", dialed)
	}
}

// The error for an unreachable host has nothing that only the host's network knows.
func TestUnreachable(t *testing.T) {
	w := newWorld()
	w.names["down.example.com"] = []string{apiAddress}
	p := start(t, w, nil, "down.example.com", "none.example.com")
	for host, want := range map[string]string{
		"none.example.com": "none.example.com:80 cannot be looked up: there is no such host",
		"down.example.com": "cannot connect to down.example.com:80: the network failed",
	} {
		if status, body := p.get("http://" + host + "/"); status != 502 || body != "skills-mcp: "+want+"\n" {
			t.Errorf("%s: %d %s", host, status, body)
		}
	}
}

// A host that goes away in the middle ends the tunnel, and one that says
// nothing is a bad gateway.
func TestHostEnds(t *testing.T) {
	w := newWorld()
	w.names["api.example.com"] = []string{apiAddress}
	w.serve(t, apiAddress+":80", func(net.Conn) {})
	w.serve(t, apiAddress+":443", func(conn net.Conn) { _, _ = io.WriteString(conn, "bye") })
	p := start(t, w, nil, "api.example.com")
	if status, body := p.get("http://api.example.com/"); status != 502 || !strings.Contains(body, "did not answer") {
		t.Errorf("%d %s", status, body)
	}
	reader, conn := p.connect("api.example.com:443")
	if got := text(t, reader); got != "bye" {
		t.Errorf("%q", got)
	}
	_ = conn.Close()
}

// A connection over which nothing passes is ended, wherever it stands.
func TestIdle(t *testing.T) {
	w := newWorld()
	w.names["api.example.com"] = []string{apiAddress}
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	w.serve(t, apiAddress+":80", silent)
	w.serve(t, apiAddress+":443", silent)
	p := start(t, w, &Options{IdleTimeout: 50 * time.Millisecond}, "api.example.com")
	for name, begin := range map[string]string{
		"nothing":     "",
		"half a head": "GET http://api.example.com/ HTTP/1.1\r\nHo",
		"half a body": "POST http://api.example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
		"no answer":   "GET http://api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"a tunnel":    "CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\nabc",
	} {
		conn := p.dial()
		if _, err := io.WriteString(conn, begin); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// There are no more connections at once than there may be, and each that is
// too many is told so.
func TestBoundsConnections(t *testing.T) {
	p := start(t, api(t), &Options{MaxConnections: 2}, "api.example.com")
	_, first := p.connect("api.example.com:443")
	reader, _ := p.connect("api.example.com:443")
	if status, body := p.get("http://api.example.com/"); status != 503 || !strings.Contains(body, "more than 2 connections at once") {
		t.Errorf("%d %s", status, body)
	}
	response, _, _ := p.say("CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	if response.StatusCode != 503 {
		t.Error(response.Status)
	}
	if err := first.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, first) // it is over when its end has come back
	_ = reader
	deadline := time.Now().Add(5 * time.Minute)
	for {
		status, body := p.get("http://api.example.com/")
		if status == 200 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d %s, though a connection has ended", status, body)
		}
	}
}

// Open connections that ask for nothing are bounded too: further ones wait.
func TestBoundsOpenConnections(t *testing.T) {
	p := start(t, api(t), &Options{MaxConnections: 1}, "api.example.com")
	open := []net.Conn{p.dial(), p.dial()}
	third := p.dial()
	if _, err := io.WriteString(third, "GET http://api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Minute); len(p.open) < 2; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the connections are not accepted")
		}
	}
	if n := cap(p.open); n != 2 {
		t.Errorf("%d connections may be open", n)
	}
	_ = open[0].Close()
	response, err := http.ReadResponse(bufio.NewReader(third), nil)
	if err != nil || response.StatusCode != 200 {
		t.Errorf("%v, %v", response, err)
	}
}

func TestConnections(t *testing.T) {
	p := start(t, api(t), nil, "api.example.com")
	reader, conn := p.connect("api.example.com:443")
	if _, err := io.WriteString(conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := text(t, reader); got != "hello" {
		t.Fatal(got)
	}
	if status, _ := p.get("http://other.example.com/secret?token=x"); status != 403 {
		t.Fatal(status)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	got := p.Connections()
	want := []sandbox.Connection{
		{Host: "api.example.com:443", Address: apiAddress + ":443", Sent: 5, Got: 5},
		{Host: "other.example.com:80", Refused: "other.example.com:80 is not among the hosts that this skill was granted: api.example.com"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(sandbox.Connection{}, "Time")); diff != "" {
		t.Error(diff)
	}
	for _, c := range got {
		if c.Time <= 0 || c.Time > 5*time.Minute {
			t.Errorf("%s took %v", c.Host, c.Time)
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	p, err := New(sandbox.Grant{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxEntries + 12 {
		e := p.connector.journal.begin(fmt.Sprintf("host%d:80", i))
		e.sent.Add(2)
		e.got.Add(3)
		e.end("")
	}
	got := p.Connections()
	if len(got) != maxEntries+1 {
		t.Fatalf("%d connections", len(got))
	}
	if diff := cmp.Diff(sandbox.Connection{Host: "(12 more)", Sent: 24, Got: 36}, got[maxEntries]); diff != "" {
		t.Error(diff)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// Close ends everything that is under way, at whatever point it is, and later
// connections are not served.
func TestClose(t *testing.T) {
	w := api(t)
	hang := make(chan struct{})
	w.serve(t, apiAddress+":8080", func(conn net.Conn) {
		close(hang)
		_, _ = io.Copy(io.Discard, conn)
	})
	p := start(t, w, nil, "api.example.com", "api.example.com:8080")
	tunnel, _ := p.connect("api.example.com:443")
	idle := p.dial()
	waiting := p.dial()
	if _, err := io.WriteString(waiting, "GET http://api.example.com:8080/ HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-hang
	for range 2 {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, r := range map[string]io.Reader{"tunnel": tunnel, "idle": idle, "waiting": waiting} {
		if _, err := io.Copy(io.Discard, r); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
	}
	listener := listen(t)
	if err := p.Serve(listener); err != nil {
		t.Errorf("Serve after Close: %v", err)
	}
	if _, err := listener.Accept(); err == nil {
		t.Error("the listener is open after Close")
	}
}

func TestServeReturnsNilWhenItsListenerIsClosed(t *testing.T) {
	p, err := New(sandbox.Grant{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	listener := listen(t)
	served := make(chan error)
	go func() { served <- p.Serve(listener) }()
	_ = listener.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestEnviron(t *testing.T) {
	want := []string{
		"HTTP_PROXY=http://127.0.0.1:3128", "http_proxy=http://127.0.0.1:3128",
		"HTTPS_PROXY=http://127.0.0.1:3128", "https_proxy=http://127.0.0.1:3128",
		"ALL_PROXY=http://127.0.0.1:3128", "all_proxy=http://127.0.0.1:3128",
		"NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1",
		"NODE_USE_ENV_PROXY=1",
		"JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128",
	}
	if diff := cmp.Diff(want, Environ(Address)); diff != "" {
		t.Error(diff)
	}
}
