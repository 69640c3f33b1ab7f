// Package faulttest serves over HTTP with faults on demand, for the tests of fetchers:
// connections that are cut, servers that are busy, slow or wrong.
//
// Start with [New].
package faulttest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// A Server passes requests to a handler, with faults.
type Server struct {
	*httptest.Server
	handler http.Handler

	mu       sync.Mutex
	faults   map[string][]Fault // by path; guarded by mu
	requests []*http.Request    // guarded by mu
}

// New starts a server of plain HTTP on a loopback address, which ends with the test.
func New(t testing.TB, handler http.Handler) *Server {
	s := &Server{handler: handler, faults: map[string][]Fault{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// NewTLS starts a server of HTTPS, with HTTP/1 and HTTP/2. Transport trusts it.
func NewTLS(t testing.TB, handler http.Handler) *Server {
	s := &Server{handler: handler, faults: map[string][]Fault{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// Transport returns the transport of a client that trusts the server's certificate.
func (s *Server) Transport() *http.Transport { return s.Client().Transport.(*http.Transport) }

// Fail puts faults before the answers to the next requests of a path, one for each. "" is
// any path.
func (s *Server) Fail(path string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[path] = append(s.faults[path], faults...)
}

// Requests returns the requests of a path so far, in their order; "" is any path. Their
// bodies have been read.
func (s *Server) Requests(path string) []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(r *http.Request) bool { return path != "" && r.URL.Path != path })
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if fault := s.next(r); fault != nil {
		fault(w, r, s.handler)
		return
	}
	s.handler.ServeHTTP(w, r)
}

// next notes a request and returns its fault, nil if it has none.
func (s *Server) next(r *http.Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	for _, path := range []string{r.URL.Path, ""} {
		if queue := s.faults[path]; len(queue) > 0 {
			s.faults[path] = queue[1:]
			return queue[0]
		}
	}
	return nil
}

// A Fault answers a request in place of next, the handler of the server.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Cut ends the connection after n bytes of the body, which the header has as whole.
func Cut(n int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		begin(w, r, next, n)
		panic(http.ErrAbortHandler)
	}
}

// Stall sends n bytes of the body and then nothing, until the client gives up.
func Stall(n int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		begin(w, r, next, n)
		<-r.Context().Done()
	}
}

// begin sends the header of an answer and n bytes of its body.
func begin(w http.ResponseWriter, r *http.Request, next http.Handler, n int) {
	a := answer(r, next)
	body := a.Body.Bytes()
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(a.send(w))
	w.Write(body[:min(n, len(body))])
	http.NewResponseController(w).Flush()
}

// Drip sends the header of an answer byte by byte, one for each interval, until the
// client gives up. It works with HTTP/1.
func Drip(interval time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer connection.Close()
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		text := "HTTP/1.1 200 OK\r\nX-Long: "
		for i := 0; ; i++ {
			letter := byte('x')
			if i < len(text) {
				letter = text[i]
			}
			if _, err := connection.Write([]byte{letter}); err != nil {
				return
			}
			<-ticker.C
		}
	}
}

// DripBody sends the body of an answer byte by byte, one for each interval.
func DripBody(interval time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		a := answer(r, next)
		w.WriteHeader(a.send(w))
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for _, letter := range a.Body.Bytes() {
			if _, err := w.Write([]byte{letter}); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			<-ticker.C
		}
	}
}

// Status answers with a status and, unless it is "", a Retry-After header: seconds or a
// date.
func Status(code int, retryAfter string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		http.Error(w, "fault on demand", code)
	}
}

// Redirect answers with another URL.
func Redirect(url string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, url, http.StatusFound)
	}
}

// Header sets a header of the answer, such as a wrong Content-Type or Content-Length; ""
// deletes it.
func Header(name, value string) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		a := answer(r, next)
		if a.Header().Del(name); value != "" {
			a.Header().Set(name, value)
		}
		w.WriteHeader(a.send(w))
		w.Write(a.Body.Bytes()) // less than a wrong Content-Length cuts the connection
	}
}

// Body answers with another body: another version, or one with a wrong digest.
func Body(body []byte) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		a := answer(r, next)
		for _, name := range []string{"Content-Length", "Content-Range", "ETag"} {
			a.Header().Del(name)
		}
		a.send(w)
		w.Write(body)
	}
}

// recorded is the answer of a handler.
type recorded struct{ *httptest.ResponseRecorder }

func answer(r *http.Request, next http.Handler) recorded {
	a := httptest.NewRecorder()
	next.ServeHTTP(a, r)
	return recorded{a}
}

// send copies the header, and returns the status.
func (a recorded) send(w http.ResponseWriter) int {
	for name, values := range a.Header() {
		if w.Header().Get(name) == "" {
			w.Header()[name] = values
		}
	}
	return a.Code
}

// Files serves bytes by path, with ETags, whole or in ranges. The type of content is
// that of the path's extension.
func Files(files map[string][]byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(content)))
		http.ServeContent(w, r, r.URL.Path, time.Time{}, io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))))
	})
}
