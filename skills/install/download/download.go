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
	"time"
)

// A Client gets files. Its methods may be called by several goroutines.
type Client struct {
	options    Options
	transports *transports
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
	c.transports = newTransports(o.Transport, publicOnly(o.Public))
	return c
}

// Close closes the connections that no download uses.
func (c *Client) Close() { c.transports.close() }

// RoundTripper returns a transport with the client's rules for addresses and schemes,
// for libraries that make their own requests. named is the host that the person wrote,
// without a port; "" is none. Redirects are the library's own.
func (c *Client) RoundTripper(named string) http.RoundTripper { return &guard{c.transports, named} }

// Get downloads to w. An interrupted download is continued where it ended, if the server
// can do that and its content is still the same, and w gets each byte once. It is tried
// again a few times after 429, 503 and cut connections. The error is a [*StatusError] for
// another status than 200, and a [*source.RefusedError] for a redirect or a body that is
// not accepted; w may have got some bytes then.
func (c *Client) Get(ctx context.Context, get Get, w io.Writer) (*Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Slow, fmt.Errorf("the download took longer than %s", c.options.Slow))
	defer cancel()
	get.Limit = cmp.Or(get.Limit, defaultLimit)
	s, err := newStream(ctx, c.transports, &c.options, &get)
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
