package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// A process is one of the servers.
type process struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	address string // over HTTP
}

// start starts a server, which close ends.
func start(ctx context.Context, server, kind, folder string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, serveCommand, server, kind, folder)
	cmd.Stderr = os.Stderr
	p := &process{cmd: cmd}
	stdout, err1 := cmd.StdoutPipe()
	stdin, err2 := cmd.StdinPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p.stdin, p.stdout = stdin, bufio.NewReaderSize(stdout, 1<<20)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if kind == "http" {
		line, err := p.stdout.ReadString('\n')
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.address = strings.TrimSpace(line)
	}
	return p, nil
}

// connect returns so many connections to the server, each initialized where
// clients are legacy. Over standard input and output there is one.
func (p *process) connect(n int, modern bool) ([]conn, error) {
	if p.address == "" {
		c := &pipe{p, modern}
		return []conn{c}, c.hello()
	}
	var all []conn
	for range n {
		c, err := dial(p.address, modern)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

// held asks what the process holds.
func (p *process) held() (h held, err error) {
	r, err := http.Get("http://" + p.address + heldPath)
	if err != nil {
		return h, err
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer r.Body.Close()
	return h, json.NewDecoder(r.Body).Decode(&h)
}

// close ends the server by the end of its input.
func (p *process) close() error {
	p.stdin.Close()
	_, _ = io.Copy(io.Discard, p.stdout)
	return p.cmd.Wait()
}

func closeAll(conns []conn) {
	for _, c := range conns {
		c.close()
	}
}

// hangUp closes a connection at once: thousands of them would wait for the time
// that a closed one is kept.
func hangUp(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.Close()
}
