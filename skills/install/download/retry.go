package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	maxTries    = 4                      // without a new byte
	maxAttempts = 32                     // in all
	firstDelay  = 100 * time.Millisecond // doubles with each try
	busyDelay   = time.Second            // where a busy server states none; doubles, too
)

// A retry counts the attempts of one download.
type retry struct {
	tries, attempts int
	got             int64 // bytes before the last attempt
}

var (
	errCut  = errors.New("the server cuts the connection")
	errIdle = errors.New("the server sends less than 1 KB")
)

// next returns how long to wait before the next attempt, or the error that there is
// none: cause, or that the server wants more time than most.
func (r *retry) next(cause error, got int64, most time.Duration) (time.Duration, error) {
	if got > r.got {
		r.tries = 0
	}
	r.got = got
	r.tries++
	r.attempts++
	var status *StatusError
	busy := errors.As(cause, &status) && (status.Status == http.StatusTooManyRequests || status.Status == http.StatusServiceUnavailable)
	if r.tries >= maxTries || r.attempts >= maxAttempts || !busy && !isCut(cause) {
		return 0, cause
	}
	if !busy {
		return firstDelay << (r.tries - 1), nil
	}
	wait, ok := retryAfter(status.Header.Get("Retry-After"), time.Now())
	if !ok {
		wait = busyDelay << (r.tries - 1)
	}
	if wait > most {
		return 0, fmt.Errorf("%w, and asks to wait for %s; try again then", cause, wait.Round(time.Second))
	}
	return wait, nil
}

// retryAfter returns the time that a Retry-After header states: seconds or a date.
// Source: RFC 9110, 10.2.3.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	date, err := http.ParseTime(value)
	return max(0, date.Sub(now)), err == nil
}

// isCut reports whether a connection ended early. One that was never made is not: a
// machine without a network learns it at once.
func isCut(err error) bool {
	var network *net.OpError
	switch {
	case errors.Is(err, errIdle):
		return false
	case errors.Is(err, errCut), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	return errors.As(err, &network) && (network.Op == "read" || network.Op == "write") || errors.As(err, &streamError{})
}

// A streamError is a stream of HTTP/2 that the server has ended. Package net/http converts
// its own to any type with these fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

// Error implements error.
func (e streamError) Error() string {
	return fmt.Sprintf("stream %d ended with code %d", e.StreamID, e.Code)
}

// A watchdog cancels a request that gets less than leastBytes for some time.
type watchdog struct {
	timer  *time.Timer // stopped by stop
	cancel context.CancelCauseFunc
	ctx    context.Context
	idle   time.Duration
	bytes  int // since the timer was set
}

// leastBytes is few enough for any network, and too many for a server that keeps a
// client waiting byte by byte.
const leastBytes = 1 << 10

func newWatchdog(ctx context.Context, idle time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(idle, func() { cancel(fmt.Errorf("%w in %s", errIdle, idle)) })
	return ctx, &watchdog{timer: timer, cancel: cancel, ctx: ctx, idle: idle}
}

// seen notes that so many bytes have come.
func (w *watchdog) seen(n int) {
	if w.bytes += n; w.bytes >= leastBytes {
		w.bytes = 0
		w.timer.Reset(w.idle)
	}
}

// stop ends the request.
func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// cause returns the reason of an error of the request.
func (w *watchdog) cause(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// watched tells a watchdog of each byte.
type watched struct {
	io.Reader
	idle *watchdog
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.idle.seen(n)
	return n, err
}
