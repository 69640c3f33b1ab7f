package download

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A stream is the body of a download, read over as many connections as it needs.
type stream struct {
	options *Options
	http    *http.Client
	ctx     context.Context
	get     *Get
	url     *url.URL

	first *http.Response // the head of the download
	body  io.ReadCloser  // of the current connection; nil for none
	idle  *watchdog      // of the current connection
	etag  string         // a strong one, "" for none
	total int64          // bytes of the body, -1 if unknown
	got   int64          // bytes of the body
	sum   hash.Hash      // of got
	retry retry
}

func newStream(ctx context.Context, t *transports, o *Options, get *Get) (*stream, error) {
	u, err := url.Parse(get.URL)
	if err != nil {
		return nil, fmt.Errorf("download: %w", err)
	}
	if u.Host == "" {
		return nil, fmt.Errorf("download: %s is no address of the web", u.Redacted())
	}
	return &stream{options: o, http: t.httpClient(get, u), ctx: ctx, get: get, url: u, total: -1, sum: sha256.New()}, nil
}

func (s *stream) close() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
	if s.idle != nil {
		s.idle.stop()
		s.idle = nil
	}
}

// connect gets the body, from where it was interrupted.
func (s *stream) connect() error {
	for {
		err := s.attempt()
		if err == nil {
			return nil
		}
		s.close()
		if err := s.wait(err); err != nil {
			return err
		}
	}
}

// wait waits before the next attempt. Its error says that there is none.
func (s *stream) wait(cause error) error {
	if s.ctx.Err() != nil {
		return fmt.Errorf("download %s: %w", s.url.Redacted(), context.Cause(s.ctx))
	}
	d, err := s.retry.next(cause, s.got, s.options.MaxWait)
	if err != nil {
		return s.named(err)
	}
	return s.options.Sleep(s.ctx, d)
}

// named adds the URL to an error that has none.
func (s *stream) named(err error) error {
	var refused *source.RefusedError
	var status *StatusError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &status):
		return err
	}
	var inner *url.Error // says the URL, with its query
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("download %s: %w", s.url.Redacted(), err)
}

// attempt makes one request.
func (s *stream) attempt() error {
	ctx, idle := newWatchdog(s.ctx, s.options.Idle)
	s.idle = idle
	r, err := s.request(ctx)
	if err != nil {
		return err
	}
	answer, err := s.http.Do(r)
	if err != nil {
		return idle.cause(err)
	}
	idle.seen(leastBytes)
	s.body = answer.Body
	switch answer.StatusCode {
	case http.StatusOK:
		return s.begin(answer)
	case http.StatusPartialContent:
		if r.Header.Get("Range") != "" {
			return s.resume(answer)
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if r.Header.Get("Range") != "" {
			s.etag = "" // the next attempt gets all
			return errCut
		}
	}
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
	return &StatusError{answer.Request.URL.Redacted(), answer.StatusCode, body, answer.Header}
}

// maxErrorBody bounds the body of an error, in bytes.
const maxErrorBody = 4 << 10

func (s *stream) request(ctx context.Context) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if s.get.Post != nil {
		method, body = http.MethodPost, bytes.NewReader(s.get.Post)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url.String(), body)
	if err != nil {
		return nil, err
	}
	// A compressed body could not be continued, and has another digest.
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", cmp.Or(s.options.UserAgent, "skills-mcp"))
	if s.got > 0 && s.etag != "" {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", s.got))
		r.Header.Set("If-Range", s.etag)
	}
	return r, nil
}

// begin starts to read a whole body. What was read of it before is compared and left
// out.
func (s *stream) begin(answer *http.Response) error {
	if s.first == nil {
		s.first, s.total = answer, answer.ContentLength
	}
	s.etag = answer.Header.Get("ETag")
	if strings.HasPrefix(s.etag, "W/") { // does not promise the same bytes
		s.etag = ""
	}
	if answer.ContentLength > s.get.Limit {
		return s.tooLarge()
	}
	if s.got == 0 {
		return nil
	}
	if s.total >= 0 && answer.ContentLength >= 0 && s.total != answer.ContentLength {
		return s.changed()
	}
	again := sha256.New()
	n, err := io.CopyN(again, &watched{answer.Body, s.idle}, s.got)
	switch {
	case n < s.got && errors.Is(err, io.EOF):
		return s.changed()
	case err != nil:
		return s.idle.cause(err)
	case !bytes.Equal(again.Sum(nil), s.sum.Sum(nil)):
		return s.changed()
	}
	return nil
}

// resume checks that a part of a body is the rest. Source: RFC 9110, 14.4.
func (s *stream) resume(answer *http.Response) error {
	var from, to, total int64
	_, err := fmt.Sscanf(answer.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &total)
	if err != nil || from != s.got || s.total >= 0 && total != s.total {
		s.etag = ""
		return errCut // once more, as a whole
	}
	if etag := answer.Header.Get("ETag"); etag != "" && etag != s.etag {
		return s.changed()
	}
	return nil
}

func (s *stream) changed() error {
	return &source.RefusedError{Reason: fmt.Sprintf("%s has changed during the download", s.url.Redacted()), Remedy: "try again"}
}

func (s *stream) tooLarge() error {
	return &source.RefusedError{Reason: fmt.Sprintf("%s is larger than %d bytes", s.url.Redacted(), s.get.Limit), Remedy: "leave out what the skill does not need"}
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	for {
		n, err := s.body.Read(p)
		s.got += int64(n)
		s.sum.Write(p[:n])
		if n > 0 {
			s.idle.seen(n)
			if s.get.Progress != nil {
				s.get.Progress(s.got, max(0, s.total))
			}
		}
		switch {
		case s.got > s.get.Limit:
			return n, s.tooLarge()
		case err == nil || err == io.EOF:
			return n, err
		}
		if err = s.idle.cause(err); !errors.Is(err, errIdle) {
			err = fmt.Errorf("%w: %w", errCut, err)
		}
		s.close()
		if err := s.wait(err); err != nil {
			return n, err
		}
		if err := s.connect(); err != nil {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// copy copies the body to w.
func (s *stream) copy(w io.Writer) (*Response, error) {
	response := &Response{URL: s.first.Request.URL.Redacted(), Header: s.first.Header}
	if kind, _, err := mime.ParseMediaType(s.first.Header.Get("Content-Type")); err == nil {
		response.ContentType = kind
	}
	body, err := s.decoded(response)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(body, s.get.Limit+1))
	switch {
	case err != nil:
		return nil, err
	case n > s.get.Limit:
		return nil, s.tooLarge()
	}
	response.Size, response.Digest = n, digest(sum)
	if s.get.Digest != "" && !slices.Contains([]string{response.Digest, digest(s.sum)}, strings.ToLower(s.get.Digest)) {
		return nil, &source.RefusedError{
			Reason: fmt.Sprintf("%s has the digest %s, not %s", s.url.Redacted(), response.Digest, s.get.Digest),
			Remedy: "ask its author which one is right",
		}
	}
	return response, nil
}

func digest(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// decoded returns the body without the compression that the server has put over it,
// although it was asked for none. Some servers name so the compression of a tar.gz file.
func (s *stream) decoded(r *Response) (io.Reader, error) {
	encoding := strings.ToLower(r.Header.Get("Content-Encoding"))
	switch encoding {
	case "", "identity":
		return s, nil
	case "gzip", "x-gzip":
		ext := path.Ext(s.first.Request.URL.Path)
		if strings.Contains(r.ContentType, "tar") || ext == ".gz" || ext == ".tgz" {
			return s, nil
		}
		return gzip.NewReader(s)
	}
	return nil, &source.RefusedError{Reason: fmt.Sprintf("%s is packed with %q", s.url.Redacted(), encoding)}
}
