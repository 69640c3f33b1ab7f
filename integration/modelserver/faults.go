package modelserver

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// huge is the number of bytes of the faults Huge, HugeError and HugeLine.
const huge = 100 << 20

// fault does a fault, and returns the number of bytes of it that the client has taken.
func fault(w http.ResponseWriter, r *http.Request, api api, reply Reply) (sent int64) {
	fail := func(status int, body string) {
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
	text := Reply{Text: "a part of a reply that does not come"}
	switch reply.Fault {
	case Busy:
		fail(http.StatusTooManyRequests, api.problem("rate_limit_error", "too many requests"))
	case Overloaded:
		fail(529, api.problem("overloaded_error", "overloaded"))
	case Broken:
		fail(http.StatusInternalServerError, api.problem("api_error", "internal error"))
	case Refused:
		fail(http.StatusBadRequest, api.problem("invalid_request_error", reply.Text))
	case WindowFull:
		fail(http.StatusBadRequest, api.windowFull())
	case Redirect:
		http.Redirect(w, r, reply.Text, http.StatusTemporaryRedirect)
	case NoStream:
		fail(http.StatusOK, `{"choices":[{"message":{"role":"assistant","content":"hello"}}]}`)
	case Drop:
		panic(http.ErrAbortHandler)
	case HugeError:
		fail(http.StatusInternalServerError, "")
		return pour(w, func() string { return strings.Repeat("no ", 20<<10) })
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		events := api.events(&Request{}, text)
		for _, event := range events[:len(events)/2] {
			_, _ = io.WriteString(w, event)
		}
		_ = http.NewResponseController(w).Flush()
		return within(w, r, api, reply.Fault)
	}
	return 0
}

// within does a fault that comes within a stream.
func within(w http.ResponseWriter, r *http.Request, api api, fault Fault) (sent int64) {
	switch fault {
	case Cut:
		panic(http.ErrAbortHandler)
	case Hang:
		<-r.Context().Done()
	case BrokenJSON:
		_, _ = io.WriteString(w, "data: {\"type\": \n\n")
	case InStream:
		_, _ = fmt.Fprintf(w, "event: error\ndata: %s\n\n", api.problem("overloaded_error", "overloaded"))
	case Huge:
		text := strings.Repeat("more ", 1000)
		return pour(w, func() string { return api.text(text) })
	case HugeLine:
		_, _ = io.WriteString(w, "data: ")
		return pour(w, func() string { return strings.Repeat("x", 64<<10) })
	}
	return 0
}

// pour writes 100 MB, while there is a client.
func pour(w http.ResponseWriter, part func() string) (sent int64) {
	for sent < huge {
		n, err := io.WriteString(w, part())
		if sent += int64(n); err != nil {
			break
		}
	}
	return sent
}
