package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

var errIdle = errors.New("the server sends less than 1 KB")

// leastBytes is few enough for any network, and too many for a server that keeps a
// client waiting byte by byte.
const leastBytes = 1 << 10

// A watching transport ends a request that gets less than leastBytes in a time. One that
// uploads is not watched.
type watching struct {
	next http.RoundTripper
	idle time.Duration
}

// RoundTrip implements [http.RoundTripper].
func (t *watching) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut || r.Method == http.MethodPatch {
		return t.next.RoundTrip(r)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(t.idle, func() { cancel(fmt.Errorf("%w in %s", errIdle, t.idle)) })
	body := &watchedBody{ctx: ctx, cancel: cancel, timer: timer, idle: t.idle}
	answer, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		err = body.cause(err)
		body.stop()
		return nil, err
	}
	timer.Reset(t.idle)
	body.ReadCloser = answer.Body
	answer.Body = body
	return answer, nil
}

// A watchedBody is the body of a watched request.
type watchedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // stopped by stop
	idle   time.Duration
	bytes  int // since the timer was set
}

// Read implements [io.Reader].
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.bytes += n; b.bytes >= leastBytes {
		b.bytes = 0
		b.timer.Reset(b.idle)
	}
	if err != nil && err != io.EOF {
		err = b.cause(err)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *watchedBody) Close() error {
	b.stop()
	return b.ReadCloser.Close()
}

// stop ends the request.
func (b *watchedBody) stop() {
	b.timer.Stop()
	b.cancel(nil)
}

// cause returns the reason of an error of the request.
func (b *watchedBody) cause(err error) error {
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	return err
}
