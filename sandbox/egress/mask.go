package egress

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox/redact"
)

// A masker puts the sentinels in place of the secrets in what comes back from hosts.
type masker struct{ values *redact.Replacer }

// response masks a response.
func (m masker) response(r *http.Response) error {
	m.fields(r.Header)
	r.Status = m.values.String(r.Status)
	if r.StatusCode == http.StatusSwitchingProtocols {
		if both, ok := r.Body.(io.ReadWriteCloser); ok {
			r.Body = struct {
				io.ReadCloser
				io.Writer
			}{m.values.Reader(both), both}
		}
		return nil
	}
	if r.Request.Method == http.MethodHead || r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	plain, err := decompress(r)
	if err != nil {
		return err
	}
	r.Body = &trailed{m.values.Reader(struct {
		io.Reader
		io.Closer
	}{plain, r.Body}), r, m}
	return nil
}

// fields masks header fields or trailers.
func (m masker) fields(fields http.Header) {
	for name, values := range fields {
		for i, value := range values {
			values[i] = m.values.String(value)
		}
		if masked := m.values.String(name); masked != name {
			delete(fields, name)
		}
	}
}

// trailed is a body; when it has ended, its trailers are masked too.
type trailed struct {
	io.ReadCloser
	response *http.Response
	masker   masker
}

func (b *trailed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.masker.fields(b.response.Trailer)
	}
	return n, err
}

// decompress returns the body of a response as it was before a host compressed it, though
// it was not asked to, and takes the word of that out of its head.
func decompress(r *http.Response) (io.Reader, error) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ",")))
	var plain io.Reader
	switch {
	case encoding == "" || encoding == "identity":
		return r.Body, nil
	case r.StatusCode == http.StatusPartialContent:
	case encoding == "gzip" || encoding == "x-gzip":
		plain = &lazy{from: r.Body, open: func(from io.Reader) (io.Reader, error) { return gzip.NewReader(from) }}
	case encoding == "deflate":
		plain = &lazy{from: r.Body, open: inflate}
	}
	if plain == nil {
		return nil, &fault{status: http.StatusBadGateway, message: fmt.Sprintf("%s answers with %.40q, in which a secret could not be seen", r.Request.URL.Host, encoding)}
	}
	r.Header.Del("Content-Encoding")
	r.Header.Del("Content-Length")
	r.ContentLength = -1
	return plain, nil
}

// inflate reads what HTTP names deflate: a zlib stream, or, of some hosts, one without its
// head.
func inflate(from io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(from)
	head, err := buffered.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(buffered)
	}
	return flate.NewReader(buffered), nil
}

// lazy opens a reader when it is first read, so that a response's head does not wait for
// its body.
type lazy struct {
	from   io.Reader
	open   func(io.Reader) (io.Reader, error)
	opened io.Reader
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.opened == nil {
		var err error
		if l.opened, err = l.open(l.from); err != nil {
			return 0, err
		}
	}
	return l.opened.Read(p)
}

// finalOnly keeps responses of the 100s to itself: their fields are passed on unmasked.
type finalOnly struct{ http.RoundTripper }

func (f finalOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	return f.RoundTripper.RoundTrip(r.WithContext(untraced{r.Context()}))
}

// untraced is a context without values, and so without what listens to responses of the
// 100s.
type untraced struct{ context.Context }

func (untraced) Value(any) any { return nil }
