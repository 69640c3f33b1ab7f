package egress

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os/signal"
	"syscall"
)

// Command is the argument with which this server's program is [Main].
const Command = "egress-forward"

// Main is the program that forwards the connections of a sandbox: it listens at
// address, by default [Address], and carries what connects over stdin and
// stdout, whose other end is a [Listener]. The first that it writes is a line
// that says that it listens. It returns nil when stdin ends or ctx is done, and
// an error, for stderr, when it cannot do its work.
//
// The process has to end after it: a read of stdin may still be under way.
//
// A driver starts it inside of the sandbox as the server's own program with the
// argument [Command], with pipes and no terminal as its standard streams, before
// the command that is to use it. The test program of a driver becomes it in its
// TestMain, where its first argument is [Command].
func Main(ctx context.Context, address string, stdin io.Reader, stdout io.Writer) error {
	signal.Ignore(syscall.SIGPIPE) // a server that is gone is the session's end
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", cmp.Or(address, Address))
	if err != nil {
		return err
	}
	return serveStdio(ctx, listener, stdin, stdout)
}

// serveStdio is Main with its listener.
func serveStdio(ctx context.Context, listener net.Listener, stdin io.Reader, stdout io.Writer) error {
	reader, writer := io.Pipe()
	go func() {
		_, err := io.Copy(writer, stdin)
		_ = writer.CloseWithError(err)
	}()
	err := Forward(ctx, listener, stdio{reader, stdout})
	if errors.Is(err, net.ErrClosed) {
		return nil // the session closed the listener: stdin ended
	}
	return err
}

// stdio is a connection of two streams. Closing it ends its reads; a write ends
// with the process.
type stdio struct {
	*io.PipeReader
	io.Writer
}
