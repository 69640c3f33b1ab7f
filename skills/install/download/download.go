// Package download gets files over HTTP for installation, from servers that may be
// slow, broken or hostile: bounded in size and time, with no redirect to a private
// address, and with a second attempt where a server asks for one.
//
// Start with [New].
package download

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"time"
)

// Options configure a [Client]. The zero value is usable.
type Options struct {
	// Public reports whether an address is of the public internet. Others are reached
	// only if the person named their host (see [Client.Get]); nil refuses none.
	Public func(netip.Addr) bool
	// Transport makes the connections; nil is one with the system's certificates and
	// proxy variables.
	Transport *http.Transport
	// UserAgent names this program and its version.
	UserAgent string
	// Idle bounds the time without a byte; 0 is 30 s. Slow bounds the whole of one
	// download; 0 is 10 min.
	Idle, Slow time.Duration
	// MaxWait bounds how long a Retry-After is obeyed; 0 is 60 s. A longer one is an
	// error that states it.
	MaxWait time.Duration
}

// A Client gets files. Its methods may be called by several goroutines.
type Client struct{ options Options }

// New returns a client. Nil options are the defaults.
func New(options *Options) *Client { return &Client{} }

// A Get describes one download.
type Get struct {
	URL string
	// Named reports that the person wrote the URL's host, so that it may be private,
	// and plain HTTP if it is this machine's own. Hosts that a server names may not.
	Named bool
	// Header is sent to the URL's own origin and to no other that it redirects to.
	Header http.Header
	// Limit bounds the body in bytes.
	Limit int64
	// Digest is "sha256:" and 64 hexadecimal digits that the body must have; "" any.
	Digest string
	// Progress is told the bytes that have come, and how many there will be (0 is
	// unknown); nil is told nothing.
	Progress func(done, total int64)
}

// A Response is the head of a download that has ended well.
type Response struct {
	URL         string // after redirects
	ContentType string // without parameters, lower case
	Header      http.Header
	Size        int64
	Digest      string // "sha256:…" of the body
}

// A StatusError is an answer with another status than 200.
type StatusError struct {
	URL    string
	Status int
	Body   []byte // its beginning, a stranger's text
	Header http.Header
}

// Error implements error.
func (e *StatusError) Error() string { return http.StatusText(e.Status) }

// Get downloads to w. An interrupted download is taken up where it ended if the server
// supports that, and w then gets each byte once; it is tried again a few times after 429,
// 503 and cut connections. The error is a [*StatusError] for another status than 200.
func (c *Client) Get(ctx context.Context, get Get, w io.Writer) (*Response, error) {
	return nil, errors.New("not written yet")
}
