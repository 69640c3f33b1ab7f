// Package download gets files over HTTP for installation, from servers that may be
// slow, broken or hostile: bounded in size and time, with no redirect to a private
// address, and with a second attempt where a server asks for one.
//
// Start with [New].
package download

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"
)

// Options configure a [Client]. The zero value is usable.
type Options struct {
	// Public reports whether an address is of the public internet. Others are reached
	// only if the person named their host (see [Client.Get]); nil refuses none.
	//
	// The address is checked when it is connected to. A proxy resolves names by itself:
	// behind one, only addresses in the place of a host name are checked.
	Public func(netip.Addr) bool
	// Transport makes the connections, but dials by itself; nil is one with the system's
	// certificates and proxy variables.
	Transport *http.Transport
	// UserAgent names this program and its version.
	UserAgent string
	// Idle bounds the time for each KiB, and that for a whole response header; 0 is 30 s.
	// Slow bounds the whole of one download; 0 is 10 min.
	Idle, Slow time.Duration
	// MaxWait bounds how long a Retry-After is obeyed; 0 is 60 s. A longer one is an
	// error that states it.
	MaxWait time.Duration
	// Sleep waits between attempts, at most until ctx is done; nil is a timer. Tests set
	// it.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Client gets files. Its methods may be called by several goroutines.
type Client struct {
	options Options
	open    *http.Transport // to a host that the person named, or through a proxy
	public  *http.Transport // to public addresses
	plain   *http.Transport // plain HTTP to this machine
}

// New returns a client. Nil options are the defaults. The caller closes it.
func New(options *Options) *Client {
	c := &Client{}
	if options != nil {
		c.options = *options
	}
	o := &c.options
	o.Idle = cmp.Or(o.Idle, 30*time.Second)
	o.Slow = cmp.Or(o.Slow, 10*time.Minute)
	o.MaxWait = cmp.Or(o.MaxWait, time.Minute)
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport.(*http.Transport)
	}
	c.open = transport(o.Transport, nil)
	c.public = transport(o.Transport, publicOnly(o.Public))
	c.plain = transport(o.Transport, loopbackOnly)
	c.public.Proxy, c.plain.Proxy = nil, nil
	return c
}

// Close closes the connections that no download uses.
func (c *Client) Close() {
	for _, t := range []*http.Transport{c.open, c.public, c.plain} {
		t.CloseIdleConnections()
	}
}

// A Get describes one download.
type Get struct {
	URL string
	// Named reports that the person wrote the URL's host, so that it may be private,
	// and plain HTTP if it is this machine's own. Hosts that a server names may not.
	Named bool
	// Header is sent to the URL's own origin and to no other that it redirects to.
	Header http.Header
	// Post makes it a POST request with this body; nil is a GET request.
	Post []byte
	// Limit bounds the body in bytes; 0 is 256 MiB.
	Limit int64
	// Digest is "sha256:" and 64 hexadecimal digits that the body must have; "" any.
	Digest string
	// Progress is told the bytes that have come, and how many there will be (0 is
	// unknown); nil is told nothing.
	Progress func(done, total int64)
}

// A Response is the head of a download that has ended well.
type Response struct {
	URL         string // after redirects, without a password
	ContentType string // without parameters, lower case
	Header      http.Header
	Size        int64
	Digest      string // "sha256:…" of the body
}

// A StatusError is an answer with another status than 200.
type StatusError struct {
	URL    string // without a password
	Status int
	Body   []byte // its beginning, a stranger's text
	Header http.Header
}

// Error implements error. It leaves out the body.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answers %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// Get downloads to w. An interrupted download is continued where it ended, if the server
// can do that and its content is still the same, and w gets each byte once. It is tried
// again a few times after 429, 503 and cut connections. The error is a [*StatusError] for
// another status than 200, and a [*source.RefusedError] for a redirect or a body that is
// not accepted; w may have got some bytes then.
func (c *Client) Get(ctx context.Context, get Get, w io.Writer) (*Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Slow, fmt.Errorf("the download took longer than %s", c.options.Slow))
	defer cancel()
	get.Limit = cmp.Or(get.Limit, defaultLimit)
	s, err := newStream(ctx, c, &get)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.connect(); err != nil {
		return nil, err
	}
	return s.copy(w)
}

// defaultLimit bounds a body, in bytes.
const defaultLimit = 256 << 20

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
