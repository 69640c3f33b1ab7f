package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"
)

// handler returns what answers the requests of a sandbox.
func (p *Proxy) handler(silent *log.Logger) http.Handler {
	forward := p.forwarder(silent)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		run, leave, err := p.life.Join(r.Context())
		if err != nil {
			return
		}
		defer leave()
		target, f := p.admit(r)
		if f != nil {
			answer(w, r, f)
			return
		}
		select {
		case p.active <- struct{}{}:
			defer func() { <-p.active }()
		default:
			answer(w, r, &fault{status: http.StatusServiceUnavailable, message: fmt.Sprintf("more than %d connections at once; close some first", p.options.MaxConnections)})
			return
		}
		if r.Method == http.MethodConnect {
			p.tunnel(run, w, r, target)
			return
		}
		r.URL.Host = target.String()
		forward.ServeHTTP(w, r.WithContext(run))
	})
}

// admit reads what a request asks for.
func (p *Proxy) admit(r *http.Request) (Rule, *fault) {
	bad := func(format string, args ...any) (Rule, *fault) {
		return Rule{}, &fault{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...)}
	}
	if r.Method == http.MethodConnect {
		target, err := parseTarget(r.RequestURI, 443)
		if err != nil {
			return bad("%v", err)
		}
		return target, nil
	}
	switch {
	case !r.URL.IsAbs():
		return bad("this is a proxy: ask it for a whole URL, such as http://api.example.com/")
	case r.URL.Scheme != "http":
		return bad("the scheme %.20q is not passed on; use CONNECT, as for https", r.URL.Scheme)
	}
	target, err := parseTarget(r.URL.Host, 80)
	if err != nil {
		return bad("%v", err)
	}
	return target, nil
}

// forwarder returns what passes on requests that have a whole URL. Each has a
// connection of its own, so that each is checked where it is dialed.
func (p *Proxy) forwarder(silent *log.Logger) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		// What the proxy names is what the host is told, whatever the Host header
		// said. Header fields that are for one hop are not passed on.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = strings.TrimSuffix(r.Out.URL.Host, ":80")
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as it was, with what Go does not read
		},
		FlushInterval: -1,
		ErrorLog:      silent,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			var f *fault
			if !errors.As(err, &f) {
				f = &fault{status: http.StatusBadGateway, message: fmt.Sprintf("%s did not answer: %s", r.URL.Host, reason(err))}
			}
			answer(w, r, f)
		},
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				target, err := parseTarget(address, 80)
				if err != nil {
					return nil, &fault{status: http.StatusBadRequest, message: err.Error()}
				}
				return p.connect(ctx, target)
			},
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
			ResponseHeaderTimeout:  p.options.IdleTimeout,
		},
	}
}

// answer tells the script's author what is wrong, in one line.
func answer(w http.ResponseWriter, r *http.Request, f *fault) {
	line := "skills-mcp: " + f.message
	if r.Method == http.MethodConnect {
		if conn, stream, err := hijack(w); err == nil {
			refuse(stream.Writer, f.status, line)
			linger(conn)
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close")
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, line+"\n")
}

// refuse answers a CONNECT, with the line as the reason too.
func refuse(w *bufio.Writer, status int, line string) {
	_, _ = fmt.Fprintf(w, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
		status, printable(line), len(line)+1, line)
	_ = w.Flush()
}

// linger closes a connection when its other end has, or soon: were it closed
// with something unread, the answer could be lost.
func linger(conn net.Conn) {
	defer conn.Close()
	_ = closeWrite(conn)
	_ = conn.SetReadDeadline(time.Now().Add(lingerTimeout))
	_, _ = io.Copy(io.Discard, conn)
}

// printable keeps a line within what a reason phrase may have.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, line)
}

func hijack(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w).Hijack()
}
