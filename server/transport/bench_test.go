package transport

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Both transports answer the same requests, one after the other and eight at a
// time, over the same kind of pipe.
var transports = []struct {
	name  string
	serve func(context.Context, *mcpserver.MCPServer, io.Reader, io.Writer) error
}{
	{"ours", func(ctx context.Context, core *mcpserver.MCPServer, r io.Reader, w io.Writer) error {
		return ServeStdio(ctx, Backend{Core: core}, r, w, nil)
	}},
	{"ours, remembering", func(ctx context.Context, core *mcpserver.MCPServer, r io.Reader, w io.Writer) error {
		return ServeStdio(ctx, Backend{Core: core, State: func() uint64 { return 0 }}, r, w, nil)
	}},
	{"mcp-go", func(ctx context.Context, core *mcpserver.MCPServer, r io.Reader, w io.Writer) error {
		s := mcpserver.NewStdioServer(core)
		s.SetErrorLogger(log.New(io.Discard, "", 0))
		return s.Listen(ctx, r, w)
	}},
}

func BenchmarkToolsList(b *testing.B) {
	run(b, `"method":"tools/list"`)
}

func BenchmarkToolsCall(b *testing.B) {
	run(b, `"method":"tools/call","params":{"name":"tool0","arguments":{"path":"x"}}`)
}

func BenchmarkToolsCallWithProgress(b *testing.B) {
	run(b, `"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":1}}`)
}

func run(b *testing.B, request string) {
	for _, atOnce := range []int{1, 8} {
		for _, transport := range transports {
			b.Run(fmt.Sprintf("%s/%d", transport.name, atOnce), func(b *testing.B) {
				r, in := io.Pipe()
				out, w := io.Pipe()
				done := make(chan error, 1)
				go func() { done <- transport.serve(b.Context(), benchCore(), r, w) }()
				benchClient(b, in, bufio.NewReaderSize(out, 1<<16), request, atOnce)
				in.Close()
				out.Close() // mcp-go does not wait for a notification it is writing
				<-done
			})
		}
	}
}

func benchClient(b *testing.B, in io.Writer, out *bufio.Reader, request string, atOnce int) {
	slots := make(chan struct{}, atOnce)
	fmt.Fprintln(in, hello)
	out.ReadSlice('\n')
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for i := range b.N {
			slots <- struct{}{}
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,%s}`+"\n", i, request)
		}
	}()
	for answered := 0; answered < b.N; {
		line, err := readLine(out)
		if err != nil {
			b.Fatal(err)
		}
		if !bytes.Contains(line, []byte(`"id":`)) {
			continue // progress
		}
		<-slots
		answered++
	}
	b.StopTimer()
}

// readLine returns the start of a line, and skips the rest.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	for err == bufio.ErrBufferFull {
		_, err = r.ReadSlice('\n')
	}
	return line, err
}

func benchCore() *mcpserver.MCPServer {
	core := newBench().MCPServer
	for i := range 36 { // and the four of newBench
		core.AddTool(mcp.NewTool(fmt.Sprint("tool", i),
			mcp.WithDescription("Counts the lines, branches and functions of every file below a folder and reports the ones above a limit."),
			mcp.WithString("path", mcp.Required(), mcp.Description("The folder to look at.")),
			mcp.WithNumber("limit", mcp.Description("Report what is above this.")),
			mcp.WithBoolean("recursive"),
		), echo)
	}
	return core
}
