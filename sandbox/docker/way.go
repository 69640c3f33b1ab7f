package docker

import (
	"cmp"
	"io"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// forwarder is where a container that has a way out sees the program which
// listens for it.
//
// The container itself has no network: connections to its own loopback address
// come out of a second process's standard streams, here, where a proxy decides.
// So there is nothing to set up on the engine's machine, nothing of it to be
// reached, and it is the same with every runtime.
const forwarder = "/.skills-mcp"

// noForwarder is the failure of a server whose own program cannot run in a
// container.
func noForwarder() error {
	return &sandbox.UnavailableError{
		Reason: "a container gets a way to the hosts that it was granted only from a server that runs on Linux, on the engine's machine",
		Remedy: "run the server there" + nativeInstead,
	}
}

// wayStream is the standard input and output of a process in a container.
type wayStream struct {
	conn   types.HijackedResponse
	out    *io.PipeReader
	errors sandbox.Head // the beginning of stderr; valid after copied
	copied chan struct{}
}

func newWayStream(conn types.HijackedResponse) *wayStream {
	out, in := io.Pipe()
	s := &wayStream{conn: conn, out: out, errors: sandbox.Head{Limit: 512}, copied: make(chan struct{})}
	go func() {
		defer close(s.copied)
		_, err := stdcopy.StdCopy(in, &s.errors, conn.Reader)
		err = cmp.Or(err, io.EOF)
		_ = in.CloseWithError(err)
	}()
	return s
}

func (s *wayStream) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *wayStream) Write(p []byte) (int, error) { return s.conn.Conn.Write(p) }

// Close ends both directions.
func (s *wayStream) Close() error {
	s.conn.Close()
	return s.out.Close()
}

// said closes s and returns the errors that the process wrote.
func (s *wayStream) said() string {
	_ = s.Close()
	<-s.copied
	return s.errors.String()
}
