package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// mcpgoCommand makes this program the contender mcp-go, a server on mcp-go's own
// transports. It lists the tools of ours and answers every call with the same
// result, so its figures are those of a protocol alone:
//
//	bench serve-mcp-go stdio|http FILE
//
// FILE holds the results of ours.
const mcpgoCommand = "serve-mcp-go"

// replies are the results that the contender mcp-go gives.
type replies struct {
	Tools struct {
		Tools []mcp.Tool `json:"tools"`
	}
	Calls map[string]json.RawMessage // by the tool's name
}

// startMCPGo starts the contender.
func startMCPGo(kind, file string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(exec.Command(self, mcpgoCommand, kind, file), serveOptions{http: kind == "http"})
}

// serveMCPGo serves until its input ends.
func serveMCPGo(args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("%s takes a transport and a file: %q", mcpgoCommand, args)
	}
	s, err := newMCPGo(args[1])
	if err != nil {
		return err
	}
	if args[0] == "stdio" {
		stdio := mcpserver.NewStdioServer(s)
		stdio.SetErrorLogger(log.New(io.Discard, "", 0))
		return stdio.Listen(context.Background(), stdin, stdout)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := &http.Server{Handler: mcpserver.NewStreamableHTTPServer(s, mcpserver.WithStateful(true), mcpserver.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)))}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	fmt.Fprintf(os.Stderr, "serving MCP at http://%s/mcp\n", l.Addr())
	_, _ = io.Copy(io.Discard, stdin)
	_ = h.Close()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// newMCPGo returns a server that gives the replies in a file.
func newMCPGo(file string) (*mcpserver.MCPServer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r replies
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	s := mcpserver.NewMCPServer("mcp-go", "1", mcpserver.WithToolCapabilities(true))
	for _, tool := range r.Tools.Tools {
		var result mcp.CallToolResult
		if reply, ok := r.Calls[tool.Name]; ok {
			if err := json.Unmarshal(reply, &result); err != nil {
				return nil, err
			}
		}
		s.AddTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return &result, nil })
	}
	return s, nil
}
