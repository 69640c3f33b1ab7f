package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
)

// tunnel answers a CONNECT: it connects, and then passes on what comes, both
// ways, until both are at their end.
func (p *Proxy) tunnel(ctx context.Context, w http.ResponseWriter, r *http.Request, target Rule) {
	host, err := p.connect(ctx, target)
	if err != nil {
		var f *fault
		if errors.As(err, &f) {
			answer(w, r, f)
		}
		return
	}
	defer host.Close()
	sandbox, stream, err := hijack(w)
	if err != nil {
		return
	}
	defer sandbox.Close()
	if _, err := io.WriteString(sandbox, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	// What the client sent without waiting for the answer is in the buffer.
	early := io.LimitReader(stream.Reader, int64(stream.Reader.Buffered()))
	sent := make(chan struct{}) // closed by the goroutine below
	go func() {
		defer close(sent)
		pass(host, io.MultiReader(early, sandbox), host, sandbox)
	}()
	pass(sandbox, host, sandbox, host)
	<-sent
}

// pass copies from one end to the other and passes on its end. When it fails,
// nothing more can pass in either direction.
func pass(to io.Writer, from io.Reader, toConn, fromConn net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		_ = toConn.Close()
		_ = fromConn.Close()
		return
	}
	_ = closeWrite(toConn)
}
