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
	maxTries   = 4                      // of one request, and of one download
	firstDelay = 100 * time.Millisecond // doubles with each try
	busyDelay  = time.Second            // where a busy server states none; doubles, too
)

var errCut = errors.New("the server cuts the connection")

// A retrying transport makes a request again that a busy server or a cut connection has
// not answered.
type retrying struct {
	next    http.RoundTripper
	options *Options
}

// RoundTrip implements [http.RoundTripper].
func (t *retrying) RoundTrip(r *http.Request) (*http.Response, error) {
	for try := 0; ; try++ {
		answer, err := t.next.RoundTrip(r)
		if try == maxTries-1 || r.Body != nil && r.GetBody == nil {
			return answer, err
		}
		var wait time.Duration
		switch {
		case err != nil && (!isCut(err) || r.Context().Err() != nil):
			return nil, err
		case err != nil:
			wait = firstDelay << try
		case answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode != http.StatusServiceUnavailable:
			return answer, nil
		default:
			if wait, err = t.busy(answer, try); err != nil {
				return nil, err
			}
		}
		if r, err = t.again(r, wait); err != nil {
			return nil, err
		}
	}
}

// busy closes the answer of a busy server and returns how long to wait. The error is for a
// server that wants more time than most.
func (t *retrying) busy(answer *http.Response, try int) (time.Duration, error) {
	defer answer.Body.Close()
	wait, ok := retryAfter(answer.Header.Get("Retry-After"), time.Now())
	if !ok {
		wait = busyDelay << try
	}
	if wait > t.options.MaxWait {
		return 0, fmt.Errorf("%w, and asks to wait for %s; try again then", statusError(answer), wait.Round(time.Second))
	}
	return wait, nil
}

// again waits and returns the request with its body as it was.
func (t *retrying) again(r *http.Request, wait time.Duration) (*http.Request, error) {
	if err := t.options.Sleep(r.Context(), wait); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	var err error
	if r.GetBody != nil {
		r.Body, err = r.GetBody()
	}
	return r, err
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
	if errors.As(err, &network) {
		return network.Op == "read" || network.Op == "write"
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

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
