package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// greeting is the first that [Forward] sends, when it listens. [Listener] waits
// for it.
const greeting = "skills-mcp egress 1\n"

const (
	// maxForwarded is how many connections are forwarded at once; others wait.
	maxForwarded = 64
	// maxStreams is how many streams a sandbox may have open; our own forwarder
	// never has more than maxForwarded. Each may hold 256 KiB of memory.
	maxStreams = 2 * maxForwarded
	// maxPending is how many streams may wait to be accepted.
	maxPending = 32
	// sendTimeout is how long the other side may leave what it is sent unread.
	sendTimeout = 10 * time.Second
	// endTimeout is how long the sandbox may leave a stream open that was closed
	// here.
	endTimeout = time.Minute
)

// Forward carries what connects to listener over conn, whose other end is a
// [Listener]. It is what runs inside of a sandbox. It returns nil when ctx is
// done, and an error when conn or the listener ended; both are then closed and
// nothing is left. Closing conn has to end its Read and Write.
func Forward(ctx context.Context, listener net.Listener, conn io.ReadWriteCloser) error {
	defer listener.Close()
	if _, err := io.WriteString(conn, greeting); err != nil {
		_ = conn.Close()
		return fmt.Errorf("greet the server: %w", err)
	}
	// A stream that was closed here and not there is waited for: it still counts
	// on the other side, which does end it.
	session, err := yamux.Client(conn, settings(0))
	if err != nil {
		_ = conn.Close()
		return fmt.Errorf("open the session: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = session.Close() })
	defer stop()

	var all sync.WaitGroup
	open, cancel := context.WithCancel(context.Background()) // while session is
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

// accept forwards connections, so many at a time, until there are no more.
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

// carry passes one connection on over a stream of its own.
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
		// A client that went away is told to the server as an ordinary end: there
		// is no other.
		_, _ = io.Copy(s, conn)
		_ = s.CloseWrite()
	})
	if _, err := io.Copy(conn, s); err != nil {
		_ = conn.Close()
		out.Wait()
		_, _ = io.Copy(io.Discard, s) // until the server has ended it too
		return
	}
	_ = closeWrite(conn)
	out.Wait()
}

// Listener returns a listener for the connections that [Forward] carries over
// conn, when that is ready. What is at the other end of conn may be the
// sandbox's worst: it cannot make the server hold more than 256 KiB for each of
// some 160 streams, nor start goroutines beyond those of the connections that
// are accepted. Closing the listener closes conn, which has to end its Read and
// Write; so does a conn that ends, or whose other end breaks the rules: Accept
// then returns [net.ErrClosed]. With an error, conn is closed.
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
	session, err := yamux.Server(&frames{ReadWriteCloser: conn}, settings(endTimeout))
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("open the session: %w", err)
	}
	return &streams{session}, nil
}

// settings are those of both ends. There are no keep-alives: a stream's other
// end is a process of the same machine, or of the engine's.
func settings(endTimeout time.Duration) *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = maxPending
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = sendTimeout
	c.StreamOpenTimeout = 0
	c.StreamCloseTimeout = endTimeout
	c.LogOutput = io.Discard
	return c
}

// streams are the connections that come over a session.
type streams struct{ session *yamux.Session }

// Accept returns the next one.
func (s *streams) Accept() (net.Conn, error) {
	accepted, err := s.session.AcceptStream()
	if err != nil || s.session.NumStreams() > maxStreams {
		_ = s.session.Close()
		return nil, net.ErrClosed
	}
	return &stream{accepted}, nil
}

// Close ends the session with all its streams.
func (s *streams) Close() error { return s.session.Close() }

// Addr is that of the session, for people.
func (s *streams) Addr() net.Addr { return s.session.Addr() }

// A stream is a connection over a session. Its library's Close ends one
// direction only, as CloseWrite does here.
type stream struct{ *yamux.Stream }

// CloseWrite tells the other side that nothing more comes.
func (s *stream) CloseWrite() error { return s.Stream.Close() }

// Close ends both directions, and whoever waits in either.
func (s *stream) Close() error {
	err := s.Stream.Close()
	_ = s.SetDeadline(time.Unix(1, 0))
	return err
}
