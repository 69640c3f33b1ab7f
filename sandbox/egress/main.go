package egress

import (
	"context"
	"errors"
	"io"
	"net"
)

// Main is the program that forwards the connections of a sandbox: it listens at
// [Address] and carries what connects over stdin and stdout, whose other end is
// a [Listener]. The first that it writes says that it listens. It returns nil
// when stdin ends or ctx is done, and an error, for stderr, when it cannot do
// its work.
//
// The process has to end after it: a read of stdin may still be under way.
func Main(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", Address)
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
