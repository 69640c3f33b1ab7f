// Package download gets files over HTTP for installation, from servers that may be
// slow, broken or hostile: bounded in size and time, with no redirect to a private
// address, and with a second attempt where a server asks for one.
//
// Start with [New].
package download

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"mime"
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
type Client struct {
	options   Options
	transport *http.Transport
}

// New returns a client. Nil options are the defaults.
func New(options *Options) *Client {
	c := &Client{}
	if options != nil {
		c.options = *options
	}
	c.transport = c.options.Transport
	if c.transport == nil {
		c.transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	return c
}

// Close closes the idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

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
// 503 and cut connections. Where a server cannot take it up, the download begins again if
// w is an [os.File] or a [bytes.Buffer], which Get empties, and fails otherwise. The error
// is a [*StatusError] for another status than 200.
func (c *Client) Get(ctx context.Context, get Get, w io.Writer) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.options.Slow, 10*time.Minute))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, get.URL, nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, get.Header)
	if c.options.UserAgent != "" {
		request.Header.Set("User-Agent", c.options.UserAgent)
	}
	answer, err := (&http.Client{Transport: c.transport}).Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
		return nil, &StatusError{answer.Request.URL.String(), answer.StatusCode, body, answer.Header}
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(answer.Body, get.Limit+1))
	digest := "sha256:" + hex.EncodeToString(sum.Sum(nil))
	switch {
	case err != nil:
		return nil, err
	case n > get.Limit:
		return nil, fmt.Errorf("%s is larger than %d bytes", get.URL, get.Limit)
	case get.Digest != "" && digest != get.Digest:
		return nil, fmt.Errorf("%s has the digest %s, not %s", get.URL, digest, get.Digest)
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return &Response{URL: answer.Request.URL.String(), ContentType: kind, Header: answer.Header, Size: n, Digest: digest}, nil
}
