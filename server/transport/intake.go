package transport

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// smallBody is the length up to which messages need no slot, in bytes.
	smallBody = 64 << 10
	// largeBodies is the number of slots for longer messages, and for those of unknown
	// length: each uses memory before the request has a slot among the calls.
	largeBodies = 32
)

// An intake reads messages from the bodies of requests.
type intake struct {
	max      int           // bytes of a message
	patience time.Duration // for a slot
	slots    chan struct{} // holds a value for each long message that is being read

	mu    *sync.Mutex    // guards named
	named map[string]int // slots taken or waited for, by sender with a name
}

// newIntake returns an intake within the bounds of a transport. Its patience leaves time to
// read.
func newIntake(b bounds) intake {
	return intake{b.message, b.patience / 2, make(chan struct{}, largeBodies), &sync.Mutex{}, map[string]int{}}
}

// count counts a slot of a sender, or one less. It reports false where that is more than its
// share.
func (i intake) count(sender string, n int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if sender == "" || n > 0 && i.named[sender] >= share(largeBodies) {
		return sender == ""
	}
	if i.named[sender] += n; i.named[sender] == 0 {
		delete(i.named, sender)
	}
	return true
}

// enter waits for a slot for the message of a request.
func (i intake) enter(r *http.Request) (leave func(), refused *rpcError) {
	if 0 <= r.ContentLength && r.ContentLength <= smallBody {
		return func() {}, nil
	}
	sender := senderOf(r)
	if !i.count(sender, 1) {
		return nil, refusal(http.StatusTooManyRequests, mcp.INTERNAL_ERROR, errShare.Error())
	}
	timer := time.NewTimer(i.patience)
	defer timer.Stop()
	select {
	case i.slots <- struct{}{}:
		return func() { <-i.slots; i.count(sender, -1) }, nil
	case <-timer.C:
	case <-r.Context().Done():
	}
	i.count(sender, -1)
	return nil, refusal(http.StatusServiceUnavailable, mcp.INTERNAL_ERROR, errBusy.Error())
}

// read returns the message of a request.
func (i intake) read(w http.ResponseWriter, r *http.Request) ([]byte, *rpcError) {
	leave, refused := i.enter(r)
	if refused != nil {
		return nil, refused
	}
	defer leave()
	return i.readJSON(w, r)
}

// readJSON returns the message of a request that has a slot.
func (i intake) readJSON(w http.ResponseWriter, r *http.Request) ([]byte, *rpcError) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, refusal(http.StatusUnsupportedMediaType, mcp.INVALID_REQUEST, "the Content-Type must be application/json")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return nil, refusal(http.StatusUnsupportedMediaType, mcp.INVALID_REQUEST, "compressed messages are not taken: send it without Content-Encoding")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(i.max)))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return nil, refusal(http.StatusRequestEntityTooLarge, mcp.INVALID_REQUEST, fmt.Sprintf("message longer than %d bytes", i.max))
	}
	if err != nil {
		return nil, refusal(http.StatusBadRequest, mcp.PARSE_ERROR, "the message was not sent whole")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the answer may take long
	return body, nil
}

func isJSON(contentType string) bool {
	if contentType == "application/json" { // as nearly all write it
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}
