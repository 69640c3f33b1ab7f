package skillshost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

// Options configure a [Session]. The zero value is usable.
type Options struct {
	// Version is that of this program, which the server is told.
	Version string
	// Token is sent as a bearer token over HTTP; "" is none.
	Token string
	// Env and Dir are the environment and the folder of a server's program; a nil Env is
	// an empty one.
	Env []string
	Dir string
	// Transport makes the HTTP connections; nil is one with the system's certificates and
	// proxy variables.
	Transport *http.Transport
	// Request bounds the wait for each reply; 0 is 30 s.
	Request time.Duration
}

// A dialed is a transport to a server, whose replies are bounded.
type dialed struct {
	transport.Interface
	// limit bounds the next reply, in bytes.
	limit *atomic.Int64
	// close ends the transport and waits for it; err explains a transport that broke.
	close func()
	err   func() error
}

// SetProtocolVersion implements transport.HTTPConnection: requests over HTTP carry the
// version.
func (d *dialed) SetProtocolVersion(version string) {
	if over, ok := d.Interface.(transport.HTTPConnection); ok {
		over.SetProtocolVersion(version)
	}
}

// dial opens the transport to a server.
func dial(address Address, o *Options) (*dialed, error) {
	if len(address.Command) > 0 {
		return start(address.Command, o)
	}
	limit := &atomic.Int64{}
	base := http.DefaultTransport.(*http.Transport).Clone()
	if o.Transport != nil {
		base = o.Transport.Clone()
	}
	client := &http.Client{Transport: &boundedTransport{base, limit, o.Token}, CheckRedirect: refuseRedirect}
	t, err := transport.NewStreamableHTTP(address.URL, transport.WithHTTPBasicClient(client), transport.WithHTTPLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, err
	}
	return &dialed{t, limit, func() { _ = t.Close(); base.CloseIdleConnections() }, func() error { return nil }}, nil
}

// refuseRedirect refuses redirects: the person has named one host.
func refuseRedirect(r *http.Request, _ []*http.Request) error {
	return fmt.Errorf("it redirects to %s, which is followed nowhere; connect to that address, if you trust it", r.URL.Redacted())
}

// A boundedTransport bounds the bodies of replies, and sends the person's token.
type boundedTransport struct {
	http.RoundTripper
	limit *atomic.Int64
	token string
}

// RoundTrip implements http.RoundTripper.
func (t *boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+t.token)
	}
	response, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = &boundedBody{response.Body, t.limit.Load()}
	}
	return response, err
}

// errReplyTooLarge is returned for a reply beyond its bound.
var errReplyTooLarge = errors.New("the reply is larger than what was asked for may be")

// A boundedBody is a body with a bound, which counts the bytes that may still come.
type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errReplyTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, errReplyTooLarge
	}
	return n, err
}

// The waits for a program whose input has ended.
const (
	grace     = 2 * time.Second // to end by itself
	killGrace = time.Second     // for its pipes, once it is killed
)

// start runs a server's program, as the person who has named it.
func start(command []string, o *Options) (*dialed, error) {
	ctx, kill := context.WithCancel(context.Background()) // ended by close
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = o.Env, o.Dir, killGrace
	printed := &head{}
	cmd.Stderr = printed
	input, err := cmd.StdinPipe()
	if err != nil {
		kill()
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		kill()
		return nil, fmt.Errorf("start the server: %w", err)
	}
	lines := &boundedLines{reader: output, limit: &atomic.Int64{}}
	t := transport.NewIO(lines, input, io.NopCloser(bytes.NewReader(nil)))
	end := func() {
		_ = t.Close() // the program's input
		timer := time.AfterFunc(grace, kill)
		_ = cmd.Wait() // it closes the output, too
		timer.Stop()
		kill()
	}
	return &dialed{t, lines.limit, end, func() error { return errors.Join(lines.err(), printed.err()) }}, nil
}

// boundedLines bounds the lines of a program's output: a longer one ends the output.
type boundedLines struct {
	reader io.Reader
	limit  *atomic.Int64
	length int64 // of the line so far; owned by the reading goroutine
	broken atomic.Bool
}

// Read implements io.Reader.
func (l *boundedLines) Read(p []byte) (int, error) {
	if l.broken.Load() {
		return 0, io.EOF
	}
	n, err := l.reader.Read(p)
	l.length += int64(n)
	if at := bytes.LastIndexByte(p[:n], '\n'); at >= 0 {
		l.length = int64(n - at - 1)
	}
	if l.length > l.limit.Load() {
		l.broken.Store(true)
		return 0, io.EOF
	}
	return n, err
}

func (l *boundedLines) err() error {
	if l.broken.Load() {
		return errReplyTooLarge
	}
	return nil
}

// maxPrinted bounds the standard error that an error quotes, in bytes.
const maxPrinted = 1 << 10

// A head holds the first bytes that a program prints.
type head struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p[:min(len(p), maxPrinted-len(h.text))]...)
	return len(p), nil
}

func (h *head) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.text) == 0 {
		return nil
	}
	return fmt.Errorf("the server printed %q", h.text)
}
