package download

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	maxTries  = 4           // of one request
	busyDelay = time.Second // where a busy server states none; doubles with each try
	maxWait   = time.Minute // that a server may ask for
)

// A retrying transport makes a request again that a busy server has not answered.
type retrying struct {
	next  http.RoundTripper
	sleep func(ctx context.Context, d time.Duration) error
}

// RoundTrip implements [http.RoundTripper].
func (t *retrying) RoundTrip(r *http.Request) (*http.Response, error) {
	for try := 0; ; try++ {
		answer, err := t.next.RoundTrip(r)
		if err != nil || try == maxTries-1 || !isBusy(answer) || r.Body != nil && r.GetBody == nil {
			return answer, err
		}
		wait, err := waitFor(answer, try)
		if err != nil {
			return nil, err
		}
		if r, err = t.again(r, wait); err != nil {
			return nil, err
		}
	}
}

func isBusy(answer *http.Response) bool {
	return answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusServiceUnavailable
}

// waitFor closes the answer of a busy server and returns how long to wait. The error is for a
// server that wants more time than most.
func waitFor(answer *http.Response, try int) (time.Duration, error) {
	defer answer.Body.Close()
	wait, ok := retryAfter(answer.Header.Get("Retry-After"), time.Now())
	if !ok {
		wait = busyDelay << try
	}
	if wait > maxWait {
		return 0, fmt.Errorf("%w, and asks to wait for %s; try again then", statusError(answer), wait.Round(time.Second))
	}
	return wait, nil
}

// again waits and returns the request with its body as it was.
func (t *retrying) again(r *http.Request, wait time.Duration) (*http.Request, error) {
	if err := t.sleep(r.Context(), wait); err != nil {
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
