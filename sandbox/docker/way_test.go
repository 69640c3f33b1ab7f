package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// TestWay reaches a granted server of the host's, by the proxy alone.
func TestWay(t *testing.T) {
	t.Run("runc", func(t *testing.T) { reaches(t, *realEngine(t)) })
	t.Run("gVisor", func(t *testing.T) { reaches(t, gVisor(t)) })
	t.Run("Podman", func(t *testing.T) { reaches(t, podman(t)) })
}

func reaches(t *testing.T, options Options) {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "served") })}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())

	// What is a public address for the proxy leads to the test's server.
	options.Egress = &egress.Options{Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, listener.Addr().String())
	}}
	if options.Forwarder, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	d := New(&options)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	script := `curl -sS -m 10 http://192.0.9.1:` + port + `/; echo; curl -sS -m 10 http://192.0.9.2:` + port + `/; echo; curl -sS --noproxy '*' -m 5 http://192.0.9.1:` + port + `/ 2>&1 | head -c 20`
	for _, which := range []string{"first", "warm"} {
		var out bytes.Buffer
		cmd := realCommand(t, script)
		cmd.Stdout, cmd.Stderr = &out, &out
		cmd.Grant.Hosts = []string{"192.0.9.1:" + port}
		exit, err := d.Run(t.Context(), cmd)
		if err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if !strings.HasPrefix(got, "served\n") || strings.Count(got, "served") != 1 || !strings.Contains(got, "192.0.9.2") {
			t.Errorf("%s: output %q", which, got)
		}
		if len(exit.Connections) != 2 || exit.Connections[0].Refused != "" || exit.Connections[1].Refused == "" {
			t.Errorf("%s: connections %+v", which, exit.Connections)
		}
		settled(d)
	}
}

func TestNoForwarder(t *testing.T) {
	cmd := command()
	cmd.Grant.Hosts = []string{"example.com"}
	_, err := newSpec(cmd, &image{}, &engine{})
	var unavailable *sandbox.UnavailableError
	if !errors.As(err, &unavailable) {
		t.Errorf("error %v", err)
	}
}
