package kubernetes

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A cutter is a proxy in front of an API server that cuts the stream which gets a command's
// line: after a share of the line, or after all of it.
type cutter struct {
	mu    sync.Mutex
	armed bool
	share float64 // of the line that is passed on; 1 is all, and then the begin is awaited
	cuts  int
}

// lineBytes is more than what a driver sends to a shell that waits, other than its line.
const lineBytes = 100

// newCutter returns a cutter of a cluster, and the configuration of clients behind it.
func newCutter(t *testing.T, config *rest.Config) (*cutter, *rest.Config) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{}
	one := rest.CopyConfig(config) // an upgrade takes version 1.1 of HTTP
	one.NextProtos = []string{"http/1.1"}
	upgrading, err := rest.TransportFor(one)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1,
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Upgrade") == "" {
				return client.Transport.RoundTrip(r)
			}
			return upgrading.RoundTrip(r)
		}),
		ModifyResponse: func(r *http.Response) error {
			stream, ok := r.Body.(io.ReadWriteCloser)
			if ok && strings.Contains(r.Request.URL.RawQuery, "container="+runner) {
				r.Body = &cutStream{ReadWriteCloser: stream, cutter: c}
			}
			return nil
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		client.CloseIdleConnections()
	})
	return c, &rest.Config{Host: server.URL}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A cutStream is a stream to a runner.
type cutStream struct {
	io.ReadWriteCloser
	cutter *cutter
	sent   bool // all of the line: the next output ends the stream
}

func (s *cutStream) Write(p []byte) (int, error) {
	s.cutter.mu.Lock()
	defer s.cutter.mu.Unlock()
	if !s.cutter.armed || len(p) < lineBytes {
		return s.ReadWriteCloser.Write(p)
	}
	s.cutter.armed = false
	s.cutter.cuts++
	if s.sent = s.cutter.share == 1; s.sent {
		return s.ReadWriteCloser.Write(p)
	}
	_, _ = s.ReadWriteCloser.Write(p[:int(s.cutter.share*float64(len(p)))])
	_ = s.Close()
	return 0, io.ErrClosedPipe
}

func (s *cutStream) Read(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(p)
	s.cutter.mu.Lock()
	defer s.cutter.mu.Unlock()
	if s.sent {
		_ = s.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// A connection that is cut within a command's line, on a real cluster, is one whose command
// another Pod runs; after the line it may have run, and is not repeated.
func TestCutOnCluster(t *testing.T) {
	r := newRealCluster(t)
	plain := r.cluster(t)
	defer plain.close()
	cutter, config := newCutter(t, r.config)
	o := r.options()
	o.Config = config
	d := New(o)
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, test := range map[string]struct {
		share float64
		again bool
	}{"before the line": {0, true}, "in the line": {0.5, true}, "after the line": {1, false}} {
		t.Run(name, func(t *testing.T) {
			cutter.mu.Lock()
			cutter.armed, cutter.share, cutter.cuts = true, test.share, 0
			cutter.mu.Unlock()
			var stdout bytes.Buffer
			started := 0
			cmd := fakeCommand(t, "bash", "-c", "echo ran; sleep 0.2")
			cmd.Stdout = &stdout
			cmd.Started = func() { started++ }
			_, err := d.Run(t.Context(), cmd)
			var unavailable *sandbox.UnavailableError
			switch {
			case cutter.cuts != 1:
				t.Errorf("%d cuts", cutter.cuts)
			case test.again && (err != nil || stdout.String() != "ran\n" || started != 1):
				t.Errorf("started %d times, output %q, error %v", started, stdout.String(), err)
			case !test.again && (!errors.As(err, &unavailable) || !strings.Contains(err.Error(), "it has run") || started != 1):
				t.Errorf("started %d times, output %q, error %v", started, stdout.String(), err)
			}
		})
	}
	pods, err := plain.api().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) > 5 {
		t.Errorf("%d Pods, %v", len(pods.Items), err)
	}
}
