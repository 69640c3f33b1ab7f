//go:build amd64 || arm64

package native

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// oneAddress resolves every name to an address that looks public.
type oneAddress struct{}

func (oneAddress) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
}

// newNetworkedDriver returns one for whose proxies the whole internet is one
// server of the test's.
func newNetworkedDriver(t *testing.T) *Driver {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello from %s\n", r.Host)
	}))
	t.Cleanup(server.Close)
	if err := newDriver(t).Close(); err != nil { // skips
		t.Fatal(err)
	}
	d := New(&Options{Warm: -1, Egress: &egress.Options{
		Resolver: oneAddress{},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}})
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

// get has Python ask for URLs, which it does as the environment says.
const get = `
import sys, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url).read().decode(), end="")
    except OSError as e:
        print(type(e).__name__)
`

func TestHosts(t *testing.T) {
	d := newNetworkedDriver(t)
	var stdout strings.Builder
	exit, err := d.Run(t.Context(), &sandbox.Command{
		RunID: "test", Folder: openFolder(t), Stdout: &stdout, Stderr: t.Output(),
		Argv:  []string{"python3", "-c", get, "http://api.example.com/", "http://other.example.com/", "http://93.184.215.14/"},
		Grant: sandbox.Grant{Hosts: []string{"api.example.com:80"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "hello from api.example.com\nHTTPError\nHTTPError\n"; stdout.String() != want {
		t.Errorf("stdout %q, want %q", stdout.String(), want)
	}
	var made, refused int
	for _, c := range exit.Connections {
		if c.Refused == "" && c.Host == "api.example.com:80" && c.Got > 0 {
			made++
		}
		if c.Refused != "" {
			refused++
		}
	}
	if made != 1 || refused != 2 {
		t.Errorf("connections %+v", exit.Connections)
	}
}

// TestNoHosts wants no proxy, and nothing said of one, where none is granted; and
// the variables otherwise, unless the command has its own.
func TestNoHosts(t *testing.T) {
	d := newNetworkedDriver(t)
	const script = `env | grep -ci proxy; (exec 3<>/dev/tcp/127.0.0.1/3128) 2>/dev/null && echo listens; echo $HTTP_PROXY; ls /sys/class/net 2>/dev/null; true`
	for name, test := range map[string]struct {
		hosts, env []string
		want       string
	}{
		"none":    {nil, nil, "0\n\n"},
		"one":     {[]string{"example.com"}, nil, "10\nlistens\nhttp://127.0.0.1:3128\n"},
		"its own": {[]string{"example.com"}, []string{"HTTP_PROXY=x"}, "10\nlistens\nx\n"},
	} {
		got := try(t, d, sandbox.Command{Argv: []string{"bash", "-c", script}, Env: test.env, Grant: sandbox.Grant{Hosts: test.hosts}})
		if got.stdout != test.want {
			t.Errorf("%s: got %+v, want %q", name, got, test.want)
		}
	}
	if got := try(t, d, sandbox.Command{Argv: []string{"true"}, Grant: sandbox.Grant{Hosts: []string{"not a host"}}}); got.err == nil || got.started > 0 {
		t.Errorf("a bad host: got %+v", got)
	}
}

// TestHostsKept has each command answer for its own connections.
func TestHostsKept(t *testing.T) {
	k := keep(t, newNetworkedDriver(t), sandbox.Command{Grant: sandbox.Grant{Hosts: []string{"*.example.com:80"}}})
	for _, host := range []string{"a.example.com", "b.example.com"} {
		stdout, exit, err := in(t, k, `python3 -c '`+get+`' http://`+host+`/`)
		if err != nil || stdout != "hello from "+host+"\n" || len(exit.Connections) != 1 || exit.Connections[0].Host != host+":80" {
			t.Errorf("%s: stdout %q, exit %+v, error %v", host, stdout, exit, err)
		}
	}
}

// TestHostIsApart shows that the proxy's socket is not the host's.
func TestHostIsApart(t *testing.T) {
	d := newNetworkedDriver(t)
	listener, err := net.Listen("tcp", egress.Address)
	if err == nil { // or somebody has it, which is as well
		defer listener.Close()
	}
	got := try(t, d, sandbox.Command{
		Argv:  []string{"python3", "-c", get, "http://api.example.com/"},
		Grant: sandbox.Grant{Hosts: []string{"api.example.com:80"}},
	})
	if got.stdout != "hello from api.example.com\n" {
		t.Errorf("got %+v", got)
	}
}
