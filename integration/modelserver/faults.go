package modelserver

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// huge is the number of bytes of the faults Huge, HugeError and HugeLine.
const huge = 100 << 20

// fault does a fault.
func (s *Server) fault(w http.ResponseWriter, r *http.Request, api api, reply Reply) {
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
		s.pour(w, func() string { return strings.Repeat("no ", 20<<10) })
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		events := api.events(&Request{}, text)
		for _, event := range events[:len(events)/2] {
			_, _ = io.WriteString(w, event)
		}
		_ = http.NewResponseController(w).Flush()
		s.within(w, r, api, reply.Fault)
	}
}

// within does a fault that comes within a stream.
func (s *Server) within(w http.ResponseWriter, r *http.Request, api api, fault Fault) {
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
		s.pour(w, func() string { return api.text(text) })
	case HugeLine:
		_, _ = io.WriteString(w, "data: ")
		s.pour(w, func() string { return strings.Repeat("x", 64<<10) })
	}
}

// pour writes 100 MB, while there is a client.
func (s *Server) pour(w http.ResponseWriter, part func() string) {
	for written := 0; written < huge; {
		n, err := io.WriteString(w, part())
		s.sent.Add(int64(n))
		if written += n; err != nil {
			return
		}
	}
}
