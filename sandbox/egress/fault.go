package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// lingerTimeout bounds the time in which a refused client reads the reason.
const lingerTimeout = time.Second

// A fault is the error of a connection that is not made. Its message is for the script's
// author, so it has nothing that only the host's network knows.
type fault struct {
	status  int
	message string
	detail  string // for the operator, after the message; may be ""
}

func (f *fault) Error() string { return f.message }

// answer responds to r with the message of f, in one line for the script's author.
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

// refuse writes the response to a CONNECT, with the line as the reason phrase too.
func refuse(w *bufio.Writer, status int, line string) {
	_, _ = fmt.Fprintf(w, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
		status, printable(line), len(line)+1, line)
	_ = w.Flush()
}

// linger closes a connection after its other end did, or after lingerTimeout: a close
// with unread input could lose the response.
func linger(conn net.Conn) {
	defer conn.Close()
	_ = closeWrite(conn)
	_ = conn.SetReadDeadline(time.Now().Add(lingerTimeout))
	_, _ = io.Copy(io.Discard, conn)
}

// printable replaces the characters of a line that a reason phrase cannot have.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, line)
}

// hijack takes the connection of a request over from the HTTP server.
func hijack(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w).Hijack()
}
