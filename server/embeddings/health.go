package embeddings

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// leastPause and mostPause bound the time without requests after a failure. It
	// doubles with each.
	leastPause, mostPause = 15 * time.Second, 10 * time.Minute
)

// health pauses requests while an endpoint fails: searches do not wait for it.
type health struct {
	logger *slog.Logger
	now    func() time.Time

	mu     sync.Mutex // guards what follows
	pause  time.Duration
	paused time.Time // until then; zero while the endpoint works
	cause  error
}

// check returns an error while requests are paused.
func (h *health) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now().Before(h.paused) {
		return fmt.Errorf("no requests after an error: %w", h.cause)
	}
	return nil
}

// report records the result of a request; nil is success.
func (h *health) report(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		if h.pause > 0 {
			h.logger.Info("the embeddings endpoint works again")
		}
		h.pause, h.paused, h.cause = 0, time.Time{}, nil
		return
	}
	if h.pause == 0 {
		h.logger.Warn("the embeddings endpoint fails; searches go by words", "error", err)
	}
	h.pause = min(max(2*h.pause, leastPause), mostPause)
	wait := h.pause
	if status := (*statusError)(nil); errors.As(err, &status) && status.retryAfter > 0 {
		wait = min(status.retryAfter, mostPause)
	}
	h.paused, h.cause = h.now().Add(wait), err
}
