package download

import (
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
	// Transport makes the connections, but dials by itself, and waits 30 s for a header
	// unless it has another time; nil is one with the system's certificates and proxy
	// variables.
	Transport *http.Transport
	// UserAgent names this program and its version.
	UserAgent string
	// Slow bounds the whole of one download; 0 is 10 min.
	Slow time.Duration
	// Sleep waits between attempts, at most until ctx is done; nil is a timer. Tests set
	// it.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Get describes one download.
type Get struct {
	URL string
	// Named reports that the person wrote the URL's host, so that it may be private,
	// and plain HTTP if it is this machine's own. Hosts that a server names may not.
	Named bool
	// JSON asks for an answer in JSON.
	JSON bool
	// Post makes it a POST request with this JSON; nil is a GET request.
	Post []byte
	// Do makes the requests, as [http.Client.Do] of [Client.HTTPClient] does, for a server
	// that wants credentials; nil is the client's own.
	Do func(*http.Request) (*http.Response, error)
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
	Size        int64
	Digest      string // "sha256:…" of the body
}

// A StatusError is an answer with another status than 200.
type StatusError struct {
	URL    string // without a password
	Status int
	Body   []byte // its beginning, a stranger's text
}

// Error implements error. It leaves out the body.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answers %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// maxErrorBody bounds the body of an error, in bytes.
const maxErrorBody = 4 << 10

// statusError returns the error for an answer, and reads the beginning of its body.
func statusError(answer *http.Response) *StatusError {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
	return &StatusError{answer.Request.URL.Redacted(), answer.StatusCode, body}
}
