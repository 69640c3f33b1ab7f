package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// greeting is the first message of [Forward], when it listens. [Listener] waits for it.
const greeting = "skills-mcp egress 1\n"

const (
	// maxForwarded bounds the connections that are forwarded at once; others wait.
	maxForwarded = 64
	// maxStreams bounds the open streams of a sandbox; our own forwarder never has
	// more than maxForwarded. Each may hold 256 KiB of memory.
	maxStreams = 2 * maxForwarded
	// maxPending bounds the streams that wait to be accepted.
	maxPending = 32
	// sendTimeout bounds the time that a frame waits for the other side to read it.
	sendTimeout = 10 * time.Second
	// endTimeout bounds the time that the sandbox keeps a stream open after it was
	// closed here.
	endTimeout = time.Minute
)

// Forward carries the connections to listener over conn, whose other end is a
// [Listener]. It runs inside of a sandbox. It returns nil when ctx is done, and an error
// when conn or the listener ended; both are then closed, and all its goroutines have
// ended. Closing conn has to end its Read and Write.
func Forward(ctx context.Context, listener net.Listener, conn io.ReadWriteCloser) error {
	defer listener.Close()
	if _, err := io.WriteString(conn, greeting); err != nil {
		_ = conn.Close()
		return fmt.Errorf("greet the server: %w", err)
	}
	// No timeout for streams that were closed only here: they still count on the
	// other side, which does close them.
	session, err := yamux.Client(conn, config(0))
	if err != nil {
		_ = conn.Close()
		return fmt.Errorf("open the session: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = session.Close() })
	defer stop()

	var all sync.WaitGroup
	open, cancel := context.WithCancel(context.Background()) // until session is closed
	all.Go(func() {
		<-session.CloseChan()
		cancel()
		_ = listener.Close()
	})
	err = accept(open, listener, session, &all)
	_ = session.Close()
	all.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// accept forwards connections, maxForwarded at a time, until the listener or the session
// ends.
func accept(open context.Context, listener net.Listener, session *yamux.Session, all *sync.WaitGroup) error {
	slots := make(chan struct{}, maxForwarded)
	for {
		select {
		case slots <- struct{}{}:
		case <-open.Done():
			return errors.New("the server closed the session")
		}
		conn, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("accept a connection: %w", err)
		}
		all.Go(func() {
			carry(open, session, conn)
			<-slots
		})
	}
}

// carry copies one connection to and from a stream of its own.
func carry(open context.Context, session *yamux.Session, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(open, func() { _ = conn.Close() })
	defer stop()
	opened, err := session.OpenStream()
	if err != nil {
		return
	}
	s := &stream{opened}
	var out sync.WaitGroup
	out.Go(func() {
		// The server sees an ordinary end for a client that went away: there is no
		// other.
		_, _ = io.Copy(s, conn)
		_ = s.CloseWrite()
	})
	if _, err := io.Copy(conn, s); err != nil {
		_ = conn.Close()
		out.Wait()
		_, _ = io.Copy(io.Discard, s) // until the server has closed it too
		return
	}
	_ = closeWrite(conn)
	out.Wait()
}

// Listener waits for the greeting of [Forward] on conn, and returns a listener for the
// connections that it carries. The other end of conn may be hostile: it cannot make the
// server hold more than 256 KiB for each of some 160 streams, nor start goroutines
// beyond those of the accepted connections. Closing the listener closes conn, which has
// to end its Read and Write. A conn that ends, or whose other end breaks the protocol,
// closes the listener: Accept then returns [net.ErrClosed]. With an error, conn is
// closed.
func Listener(conn io.ReadWriteCloser) (net.Listener, error) {
	hello := make([]byte, len(greeting))
	if _, err := io.ReadFull(conn, hello); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("wait for the forwarder: %w", err)
	}
	if string(hello) != greeting {
		_ = conn.Close()
		return nil, fmt.Errorf("the forwarder said %q instead of %q", hello, greeting)
	}
	session, err := yamux.Server(&frameFilter{ReadWriteCloser: conn}, config(endTimeout))
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("open the session: %w", err)
	}
	return &sessionListener{session}, nil
}

// config returns the configuration of either end. There are no keep-alives: the other end
// is a process of the same machine, or of the engine's.
func config(endTimeout time.Duration) *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = maxPending
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = sendTimeout
	c.StreamOpenTimeout = 0
	c.StreamCloseTimeout = endTimeout
	c.LogOutput = io.Discard
	return c
}

// A sessionListener accepts the streams of a session.
type sessionListener struct{ session *yamux.Session }

// Accept returns the next stream, and ends a session that has too many.
func (l *sessionListener) Accept() (net.Conn, error) {
	accepted, err := l.session.AcceptStream()
	if err != nil || l.session.NumStreams() > maxStreams {
		_ = l.session.Close()
		return nil, net.ErrClosed
	}
	return &stream{accepted}, nil
}

// Close closes the session with all its streams.
func (l *sessionListener) Close() error { return l.session.Close() }

// Addr returns the address of the session, for people.
func (l *sessionListener) Addr() net.Addr { return l.session.Addr() }

// A stream is a connection over a session. The Close of [yamux.Stream] ends one direction
// only; CloseWrite does that here.
type stream struct{ *yamux.Stream }

// Read returns the error of files for a deadline: TLS goes on after no other, and the HTTP
// server sets one where a connection becomes a WebSocket's.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	if errors.Is(err, yamux.ErrTimeout) {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// CloseWrite ends the direction to the other side.
func (s *stream) CloseWrite() error { return s.Stream.Close() }

// Close ends both directions, and the reads and writes under way.
func (s *stream) Close() error {
	err := s.Stream.Close()
	_ = s.SetDeadline(time.Unix(1, 0))
	return err
}
