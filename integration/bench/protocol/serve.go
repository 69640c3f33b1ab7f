package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// serveCommand makes this program one of the servers that it measures:
//
//	protocol serve ours|bare stdio|http FOLDER
const serveCommand = "serve"

// nothing is the tool that does nothing.
const nothing = "nothing"

// serve serves until its input ends. Over HTTP it prints its address first.
func serve(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) != 3 {
		return fmt.Errorf("%s: %w", serveCommand, flag.ErrHelp)
	}
	temporary, err := os.MkdirTemp("", "skills-mcp-protocol-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	ours, err := newServer(ctx, args[2], temporary)
	if err != nil {
		return err
	}
	bare := mcpserver.NewMCPServer("bare", "1", mcpserver.WithToolCapabilities(true))
	for _, tool := range ours.MCP().ListTools() {
		bare.AddTools(*tool)
	}
	switch args[0] + " " + args[1] {
	case "ours stdio":
		return transport.ServeStdio(ctx, ours.Backend(), stdin, stdout, nil)
	case "bare stdio":
		s := mcpserver.NewStdioServer(bare)
		s.SetErrorLogger(log.New(io.Discard, "", 0))
		return s.Listen(ctx, stdin, stdout)
	case "ours http":
		h := transport.NewHTTP(ours.Backend(), nil)
		return errors.Join(serveHTTP(h, stdin, stdout), h.Close())
	case "bare http":
		quiet := slog.New(slog.DiscardHandler)
		return serveHTTP(mcpserver.NewStreamableHTTPServer(bare, mcpserver.WithStateful(true), mcpserver.WithStreamableHTTPLogger(quiet)), stdin, stdout)
	}
	return fmt.Errorf("%s: there is no server %q", serveCommand, args)
}

// newServer is a server of the skills in a folder, and of the tool that does
// nothing.
func newServer(ctx context.Context, folder, temporary string) (*server.Server, error) {
	snapshots := snapshot.New(temporary)
	s := server.New(run.New(sandbox.New(noDriver{}, nil), snapshots, nil), server.Options{
		Version: "1", Snapshots: snapshots, Expose: exposure.Options{Pin: []string{"skill-0*"}}, // all: there is room for some
		Load: func(ctx context.Context) (*skills.Catalog, error) {
			return skills.Scan(ctx, []skills.Root{{Source: skills.SourceExtra, Dir: folder}}, nil)
		},
	})
	if _, _, err := s.Reload(ctx); err != nil {
		return nil, err
	}
	s.MCP().AddTool(mcp.NewTool(nothing, mcp.WithString("tag")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("tag", "")), nil
	})
	return s, nil
}

// noDriver runs nothing: the skills that are asked for are instructions.
type noDriver struct{}

func (noDriver) Run(context.Context, *sandbox.Command) (*sandbox.Exit, error) {
	return nil, errors.New("nothing is run here")
}

func (noDriver) Close() error { return nil }

// serveHTTP serves h at a free port, and beside it what this process holds.
func serveHTTP(h http.Handler, stdin io.Reader, stdout io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(transport.Path, h)
	mux.HandleFunc(heldPath, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(takeHeld()) })
	s := &http.Server{Handler: mux}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	fmt.Fprintln(stdout, l.Addr())
	_, _ = io.Copy(io.Discard, stdin)
	_ = s.Close()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

const heldPath = "/held"

// held is what a process holds.
type held struct {
	Goroutines int
	Files      int    // open ones; 0 where the system does not tell
	Heap       uint64 // bytes, after a collection
}

func takeHeld() held {
	for range 2 { // the second frees what pools kept over the first
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	h := held{Goroutines: runtime.NumGoroutine(), Heap: stats.HeapAlloc}
	if files, err := fs.ReadDir(os.DirFS("/proc/self"), "fd"); err == nil {
		h.Files = len(files)
	}
	return h
}
