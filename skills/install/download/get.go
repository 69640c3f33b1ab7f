package download

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// defaultLimit bounds a body, in bytes.
const defaultLimit = 256 << 20

// Get downloads to memory. A busy server (429 and 503) is asked again a few times. The
// error is a [*StatusError] for another status than 200, and a [*source.RefusedError] for
// a redirect or a body that is not accepted.
func (c *Client) Get(ctx context.Context, get Get) ([]byte, *Response, error) {
	var to bytes.Buffer
	response, err := c.download(ctx, get, &to)
	return to.Bytes(), response, err
}

// download copies the body of a request.
func (c *Client) download(ctx context.Context, get Get, to io.Writer) (*Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Slow, fmt.Errorf("the download took longer than %s", c.options.Slow))
	defer cancel()
	get.Limit = cmp.Or(get.Limit, defaultLimit)
	u, err := url.Parse(get.URL)
	if err != nil {
		return nil, fmt.Errorf("download: %w", err)
	}
	if u.Host == "" {
		return nil, fmt.Errorf("download: %s is no address of the web", u.Redacted())
	}
	response, err := c.attempt(ctx, &get, u, to)
	return response, explain(ctx, u, err)
}

// explain adds the URL and the remedy to an error that has none.
func explain(ctx context.Context, u *url.URL, err error) error {
	var refused *source.RefusedError
	var status *StatusError
	var inner *url.Error // says the URL, with its query
	if errors.As(err, &inner) {
		err = inner.Err
	}
	switch {
	case err == nil, errors.As(err, &status):
		return err
	case errors.As(err, &refused):
		return refused
	case ctx.Err() != nil:
		return fmt.Errorf("download %s: %w", u.Redacted(), context.Cause(ctx))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the server cuts the connection")
	}
	return fmt.Errorf("download %s: %w; check the connection, and try again", u.Redacted(), err)
}

// attempt makes one request and copies its body.
func (c *Client) attempt(ctx context.Context, get *Get, u *url.URL, to io.Writer) (*Response, error) {
	r, err := c.request(ctx, get, u)
	if err != nil {
		return nil, err
	}
	do := get.Do
	if do == nil {
		named := ""
		if get.Named {
			named = u.Hostname()
		}
		do = c.HTTPClient(named, false).Do
	}
	answer, err := do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode != http.StatusOK:
		return nil, statusError(answer)
	case answer.ContentLength > get.Limit:
		return nil, tooLarge(get, u)
	}
	return get.copy(to, answer, u)
}

func (c *Client) request(ctx context.Context, get *Get, u *url.URL) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if get.Post != nil {
		method, body = http.MethodPost, bytes.NewReader(get.Post)
	}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", "identity") // a compressed body has another digest
	r.Header.Set("User-Agent", c.options.UserAgent)
	if get.JSON {
		r.Header.Set("Accept", "application/json")
	}
	if get.Post != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// copy copies the body of an answer, within the limit, and checks its digest.
func (get *Get) copy(to io.Writer, answer *http.Response, u *url.URL) (*Response, error) {
	response := &Response{URL: answer.Request.URL.Redacted()}
	if kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err == nil {
		response.ContentType = kind
	}
	body := &counter{Reader: answer.Body, get: get, total: max(0, answer.ContentLength)}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(body, get.Limit+1))
	switch {
	case err != nil:
		return nil, err
	case n > get.Limit:
		return nil, tooLarge(get, u)
	}
	response.Size, response.Digest = n, fmt.Sprintf("sha256:%x", sum.Sum(nil))
	if get.Digest != "" && response.Digest != strings.ToLower(get.Digest) {
		return nil, &source.RefusedError{
			Reason: fmt.Sprintf("%s has the digest %s, not %s", u.Redacted(), response.Digest, get.Digest),
			Remedy: "ask its author which one is right",
		}
	}
	return response, nil
}

func tooLarge(get *Get, u *url.URL) error {
	return &source.RefusedError{Reason: fmt.Sprintf("%s is larger than %d bytes", u.Redacted(), get.Limit), Remedy: "leave out what the skill does not need"}
}

// A counter tells the progress of a body.
type counter struct {
	io.Reader
	get         *Get
	done, total int64
}

// Read implements [io.Reader].
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.done += int64(n); n > 0 && c.get.Progress != nil {
		c.get.Progress(c.done, c.total)
	}
	return n, err
}
