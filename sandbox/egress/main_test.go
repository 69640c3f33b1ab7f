package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// TestMain makes the test program the forwarder where it was started as one, as
// a driver's does.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == Command {
		if err := Main(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// world is the internet of a test: names with addresses, and addresses, with
// ports, where servers of the test listen.
type world struct {
	mu      sync.Mutex
	names   map[string][]string // each look-up takes the first, but for the last
	servers map[string]string   // real addresses by the ones that are dialed
	dialed  []string
	lookups int
}

func newWorld() *world { return &world{names: map[string][]string{}, servers: map[string]string{}} }

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookups++
	name := strings.TrimSuffix(host, ".")
	answers := w.names[name]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: name, Server: "10.9.9.9:53", IsNotFound: true}
	}
	if len(answers) > 1 {
		w.names[name] = answers[1:]
	}
	var found []netip.Addr
	for _, a := range strings.Fields(answers[0]) {
		found = append(found, netip.MustParseAddr(a))
	}
	return found, nil
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	real := w.servers[address]
	w.mu.Unlock()
	if real == "" {
		return nil, errors.New("dial tcp " + address + ": no route")
	}
	return new(net.Dialer).DialContext(ctx, network, real)
}

// wasDialed returns the addresses that were, in their order.
func (w *world) wasDialed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.dialed...)
}

// serve puts a server at an address of the world; each connection is handled by
// handle and closed after it.
func (w *world) serve(t *testing.T, address string, handle func(net.Conn)) {
	t.Helper()
	listener := listen(t)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers[address] = listener.Addr().String()
}

func echo(conn net.Conn) { _, _ = io.Copy(conn, conn) }

// hello answers each request with its host, path and body.
func hello(conn net.Conn) {
	requests := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(requests)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		text := fmt.Sprintf("%s %s %s %q", r.Method, r.Host, r.URL.RequestURI(), body)
		for _, name := range []string{"Proxy-Authorization", "Connection", "X-Hop", "Forwarded", "X-Forwarded-For"} {
			if v := r.Header.Get(name); v != "" {
				text += fmt.Sprintf(" %s=%s", name, v)
			}
		}
		if _, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text); err != nil {
			return
		}
	}
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// running is a proxy that serves at an address.
type running struct {
	*Proxy
	t       testing.TB
	address string
}

// start runs a proxy to hosts in w until the test ends.
func start(t *testing.T, w *world, options *Options, hosts ...string) *running {
	t.Helper()
	p, listener := unstarted(t, w, options, hosts...)
	p.serve(listener)
	return p
}

// unstarted is a proxy that does not serve yet.
func unstarted(t *testing.T, w *world, options *Options, hosts ...string) (*running, net.Listener) {
	t.Helper()
	var o Options
	if options != nil {
		o = *options
	}
	o.Resolver, o.Dial = w, w.dial
	p, err := New(sandbox.Grant{Hosts: hosts}, &o)
	if err != nil {
		t.Fatal(err)
	}
	listener := listen(t)
	return &running{p, t, listener.Addr().String()}, listener
}

// serve serves until the test ends.
func (r *running) serve(listener net.Listener) {
	served := make(chan error, 1)
	go func() { served <- r.Serve(listener) }()
	r.t.Cleanup(func() {
		if err := r.Close(); err != nil {
			r.t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			r.t.Errorf("Serve: %v", err)
		}
	})
}

// dial connects to the proxy.
func (r *running) dial() net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		r.t.Fatal(err)
	}
	return conn
}

// get asks for a URL through the proxy.
func (r *running) get(address string) (status int, body string) {
	r.t.Helper()
	proxy := &url.URL{Scheme: "http", Host: r.address}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return nil },
		Timeout:       5 * time.Minute,
	}
	response, err := client.Get(address)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// say sends text over a new connection and returns the first answer, whose body
// is text, and the connection.
func (r *running) say(text string) (*http.Response, *bufio.Reader, net.Conn) {
	r.t.Helper()
	conn := r.dial()
	if _, err := io.WriteString(conn, text); err != nil {
		r.t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return response, reader, conn
}

// connect opens a tunnel.
func (r *running) connect(host string) (*bufio.Reader, net.Conn) {
	r.t.Helper()
	conn := r.dial()
	if _, err := io.WriteString(conn, "CONNECT "+host+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); err != nil {
		r.t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	if err != nil {
		r.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		r.t.Fatalf("CONNECT %s: %s", host, response.Status)
	}
	return reader, conn
}

func text(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
