package replica

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// PassedHeader marks a request that another server has passed on. It is handled where it
// arrives.
const PassedHeader = "Skills-Mcp-Replica"

var (
	// ErrUnsent is returned for a request of which the other server has got nothing.
	ErrUnsent = errors.New("the server that has it cannot be reached")
	// ErrLost is returned for a request whose answer did not come, or not whole.
	ErrLost = errors.New("the server that handled it has ended; it may have run")
)

// patience is the time in which a client has to read a part of an answer.
const patience = 30 * time.Second

// Around returns a handler that passes requests with IDs of another server on to it, and all
// others to next. ids returns the IDs in a request. A nil *Set returns next.
func (s *Set) Around(next http.Handler, ids func(*http.Request) []string) http.Handler {
	if s == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Passed(r) {
			if home := s.Home(r.Context(), ids(r)...); home != "" {
				err := s.Pass(w, r, nil, home)
				if errors.Is(err, ErrLost) {
					http.Error(w, err.Error(), http.StatusBadGateway) // unless the answer has begun
				}
				if !errors.Is(err, ErrUnsent) {
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Passed reports whether another server has passed a request on.
func Passed(r *http.Request) bool { return r.Header.Get(PassedHeader) != "" }

// Pass has another server answer a request, with a body that was read, or its own for nil. The
// error is [ErrUnsent], so that it can be handled here, [ErrLost], or that of a client that
// has gone.
func (s *Set) Pass(w http.ResponseWriter, r *http.Request, body []byte, server string) error {
	p := s.peer(server)
	if p == nil {
		return ErrUnsent
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.alive, cancel)() // a node that is lost sends no end
	control := http.NewResponseController(w)
	answer, err := s.client.RoundTrip(passedOn(r.WithContext(ctx), p.address, body, nameOf(s.number)))
	if err != nil {
		return failed(r, err)
	}
	defer answer.Body.Close()
	_ = control.SetReadDeadline(time.Time{}) // where it can be set; the answer may take long
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if answer.ContentLength < 0 {
		_ = control.Flush() // a stream begins before its first part
	}
	if _, err := io.Copy(&parts{w, control}, answer.Body); err != nil {
		return failed(r, err)
	}
	return nil
}

// passedOn returns a request as it goes to another server.
func passedOn(r *http.Request, address string, body []byte, from string) *http.Request {
	out := r.Clone(r.Context())
	out.RequestURI = ""
	out.Header.Set("X-Forwarded-Proto", r.URL.Scheme)
	out.Header.Set("X-Forwarded-Host", r.Host)
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		out.Header.Set("X-Forwarded-For", host)
	}
	for _, hop := range []string{"Connection", "Forwarded", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		out.Header.Del(hop)
	}
	for _, key := range []string{"Idempotency-Key", "X-Idempotency-Key"} { // with one, net/http sends a POST twice
		out.Header.Del(key)
	}
	out.Header.Set(PassedHeader, from)
	if base, err := out.URL.Parse(address); err == nil { // which was checked
		out.URL.Scheme, out.URL.Host = base.Scheme, base.Host
	}
	out.Body = io.NopCloser(r.Body) // it is read here if the other server cannot be reached
	if body != nil {
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil } // for a connection that has just closed
		out.Body, _ = out.GetBody()
		out.ContentLength = int64(len(body))
	}
	return out
}

// parts writes each part of an answer as it comes.
type parts struct {
	w       io.Writer
	control *http.ResponseController
}

func (p *parts) Write(part []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(patience))
	n, err := p.w.Write(part)
	_ = p.control.Flush()
	return n, err
}

// failed returns the error of a request that another server has not answered.
func failed(r *http.Request, err error) error {
	if r.Context().Err() != nil {
		return context.Cause(r.Context())
	}
	if dialed, ok := errors.AsType[*net.OpError](err); ok && dialed.Op == "dial" {
		return ErrUnsent
	}
	return ErrLost
}
