package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A process is a server that answered tools/list.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	answer  int            // bytes of the answer to tools/list
	waited  time.Duration  // for it, from the start
	notices chan time.Time // of list changes; closed when the output has ended
	read    chan time.Time // of lines of the log that skills were read again; closed when it has ended
	reading sync.WaitGroup // both readers
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"scale","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// start starts a server in a home folder and waits for its tools.
func start(ctx context.Context, binary, home string) (*process, error) {
	cmd := exec.CommandContext(ctx, binary, "serve", "--config", filepath.Join(home, "config.yaml"), "--sandbox", "native", "--log-level", "info")
	cmd.Dir = filepath.Join(home, "work")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	stderr, err3 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, notices: make(chan time.Time, 1000), read: make(chan time.Time, 1000)}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.reading.Go(func() { follow(stderr, p.read, "skills were read again") })
	if _, err := io.WriteString(stdin, hello); err != nil {
		return nil, errors.Join(err, p.close())
	}
	lines := bufio.NewReaderSize(stdout, 1<<20)
	for p.answer == 0 {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			close(p.notices)
			return nil, errors.Join(fmt.Errorf("read the answer to tools/list: %w", err), p.close())
		}
		if bytes.Contains(line[:min(len(line), 64)], []byte(`"id":2,`)) {
			p.answer, p.waited = len(line), time.Since(began)
		}
	}
	p.reading.Go(func() { follow(lines, p.notices, `list_changed"`) })
	return p, nil
}

// follow sends the time of each line that contains mark, until there are none,
// and closes seen.
func follow(from io.Reader, seen chan<- time.Time, mark string) {
	defer close(seen)
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if strings.Contains(line, mark) {
			seen <- time.Now()
		}
		if err != nil {
			return
		}
	}
}

// close ends the server by ending its input.
func (p *process) close() error {
	p.stdin.Close()
	p.reading.Wait()
	return p.cmd.Wait()
}

// memory returns what the process holds, and held at the most, in bytes; 0 where
// the system does not tell.
func (p *process) memory() (now, peak int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = kb << 10
		case "VmHWM":
			peak = kb << 10
		}
	}
	return now, peak
}
