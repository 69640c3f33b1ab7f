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

// Main is the program that forwards the connections of a sandbox: it listens at address,
// by default [Address], and carries the connections over stdin and stdout, whose other
// end is a [Listener]. It first writes a line, when it listens. It returns nil when stdin
// ends or ctx is done, and an error, for stderr, when it cannot listen or forward.
//
// The process has to exit after it: a read of stdin may still be under way.
//
// A driver starts it inside of the sandbox, before the command that uses it, as the
// server's own program with the argument [Command] and with pipes, not a terminal, as
// its standard streams. The test program of a driver calls it in its TestMain, where its
// first argument is [Command].
func Main(ctx context.Context, address string, stdin io.Reader, stdout io.Writer) error {
	signal.Ignore(syscall.SIGPIPE) // the session ends with the server
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", cmp.Or(address, Address))
	if err != nil {
		return err
	}
	return serveStdio(ctx, listener, stdin, stdout)
}

// serveStdio forwards the connections to listener until stdin ends or ctx is done.
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

// A stdio is a connection of two streams. Close ends its reads; a write ends with the
// process.
type stdio struct {
	*io.PipeReader
	io.Writer
}
