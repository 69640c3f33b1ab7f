package transport

import (
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// smallBody is the length up to which any number of messages is read at once,
	// in bytes.
	smallBody = 64 << 10
	// largeBodies is how many longer ones are, and those that do not say how long
	// they are: each takes memory before it has a place among the calls.
	largeBodies = 32
)

// bodies are the places for long messages that are being read.
type bodies struct {
	taken    chan struct{} // holds a value for each
	patience time.Duration
}

func newBodies(patience time.Duration) bodies {
	return bodies{make(chan struct{}, largeBodies), patience}
}

// enter waits for a place for the message of a request.
func (b bodies) enter(r *http.Request) (leave func(), refused *refusal) {
	if 0 <= r.ContentLength && r.ContentLength <= smallBody {
		return func() {}, nil
	}
	timer := time.NewTimer(b.patience)
	defer timer.Stop()
	select {
	case b.taken <- struct{}{}:
		return func() { <-b.taken }, nil
	case <-timer.C:
	case <-r.Context().Done():
	}
	return nil, refuse(http.StatusServiceUnavailable, mcp.INTERNAL_ERROR, errBusy.Error())
}
