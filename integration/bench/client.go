package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
)

// A client speaks MCP with a process over its standard streams. It does what is
// needed to call tools, and no more, so that little of what is measured is its
// own.
type client struct {
	stdin io.WriteCloser
	done  chan struct{} // closed by read when the server's output has ended

	mu      sync.Mutex // also held while writing: lines stay whole
	last    int
	waiting map[string]chan answer // by request id; each gets one answer
}

// An answer is a result, or an error of the protocol.
type answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// errGone is the error of requests to a server that has ended its output.
var errGone = errors.New("the server has ended")

// connect starts a server.
func connect(cmd *exec.Cmd) (*client, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &client{stdin: stdin, done: make(chan struct{}), waiting: map[string]chan answer{}}
	go c.read(stdout)
	return c, nil
}

// read hands out answers until there are no more.
func (c *client) read(stdout io.Reader) {
	defer close(c.done)
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var a answer
		if json.Unmarshal(line, &a) != nil || len(a.ID) == 0 {
			continue // a notification
		}
		c.mu.Lock()
		waiting := c.waiting[string(a.ID)]
		delete(c.waiting, string(a.ID))
		c.mu.Unlock()
		if waiting != nil {
			waiting <- a
		}
	}
}

// request sends a request and waits for its result.
func (c *client) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	got, err := c.send(method, params)
	if err != nil {
		return nil, err
	}
	select {
	case a := <-got:
		if a.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, a.Error.Message)
		}
		return a.Result, nil
	case <-c.done:
		return nil, errGone
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (c *client) send(method string, params any) (<-chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	got := make(chan answer, 1)
	c.waiting[strconv.Itoa(c.last)] = got
	return got, c.write(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params})
}

func (c *client) write(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.stdin.Write(append(line, '\n'))
	return err
}

// initialize begins the session.
func (c *client) initialize(ctx context.Context) error {
	_, err := c.request(ctx, "initialize", map[string]any{
		"protocolVersion": "2025-11-25",
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "bench", "version": "1"},
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// close ends the server's input, and waits for the end of its output.
func (c *client) close() error {
	err := c.stdin.Close()
	<-c.done
	return err
}
