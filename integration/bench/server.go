package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// searchPath is the PATH of every server and sandbox, and of contenders on the
// host: a person's own may have slow wrappers of an interpreter.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// A process is a server under measurement.
type process struct {
	name    string // of its contender
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	began   time.Time      // when it was started
	address string         // URL of its endpoint; "" over standard input and output
	pipe    *pipe          // its client; nil over HTTP
	log     string         // the end of standard error
	reading sync.WaitGroup // the readers of both outputs
}

// A serveOptions says how a server is started.
type serveOptions struct {
	http     bool              // Streamable HTTP instead of standard input and output
	named    bool              // clients prove who they are, each by a token of their own
	blocking bool              // one request at a time, whose reply is read by the asking thread
	args     []string          // more arguments
	env      []string          // more variables
	logged   func(line string) // is called for each line of the log; may be nil
	noticed  func(line []byte) // is called for each notification; may be nil
}

// serve starts skills-mcp in a home folder with a config.yaml. close ends it.
func (b binary) serve(home string, o serveOptions) (*process, error) {
	cmd := exec.Command(b.file, append([]string{"serve", "--config", filepath.Join(home, "config.yaml")}, o.args...)...)
	if o.http {
		cmd.Args = append(cmd.Args, "--transport", "http", "--listen", "127.0.0.1:0")
		if !o.named {
			o.env = append(o.env, "SKILLS_MCP_TOKEN="+token)
		}
	}
	cmd.Dir = filepath.Join(home, "work")
	cmd.Env = append([]string{"HOME=" + home, "XDG_CACHE_HOME=" + cacheOf(home), "XDG_CONFIG_HOME=" + home, "PATH=" + searchPath}, o.env...)
	return start(cmd, "skills-mcp"+b.suffix, o)
}

// cacheOf returns the folder of a server's cache.
func cacheOf(home string) string { return filepath.Join(home, "cache") }

// start starts a server and, over HTTP, waits for its address.
func start(cmd *exec.Cmd, name string, o serveOptions) (*process, error) {
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	stderr, err3 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: cmd, stdin: stdin, began: time.Now()}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	address := make(chan string, 1)
	p.reading.Go(func() { p.readLog(stderr, o, address) })
	if !o.http {
		p.pipe = &pipe{stdin: stdin, stdout: bufio.NewReaderSize(stdout, 1<<20), waiting: map[int]chan []byte{}, done: make(chan struct{}),
			kill: func() { _ = cmd.Process.Kill() }}
		if p.pipe.blocking = o.blocking; !o.blocking {
			p.reading.Go(func() { p.pipe.read(o.noticed) })
		} else if file, ok := stdout.(*os.File); ok {
			file.Fd() // makes it block
		}
		return p, nil
	}
	if p.address = <-address; p.address == "" {
		return nil, errors.Join(errors.New("the server did not print its address"), p.close())
	}
	return p, nil
}

// readLog reads standard error to its end. It sends the endpoint's address, or
// "" if there was none.
func (p *process) readLog(stderr io.Reader, o serveOptions, address chan<- string) {
	defer close(address)
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		if _, url, found := strings.Cut(line, "serving MCP at "); found {
			select {
			case address <- strings.TrimSpace(url):
			default:
			}
		}
		if o.logged != nil {
			o.logged(line)
		}
		p.log += line
		p.log = p.log[max(len(p.log)-2000, 0):]
		if err != nil {
			return
		}
	}
}

// atOnce is the number of concurrent requests or calls in sustained measurements.
const atOnce = 8

// connect returns n clients, each initialized if it is a legacy one. Over
// standard input and output all are the same.
func (p *process) connect(ctx context.Context, n int, modern bool) ([]client, error) {
	var all []client
	if p.pipe != nil {
		p.pipe.modern = modern
		for range n {
			all = append(all, p.pipe)
		}
		return all, p.pipe.initialize(ctx)
	}
	for range n {
		c, err := dial(ctx, p.address, modern)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func closeClients(clients []client) {
	for _, c := range clients {
		c.close()
	}
}

// cpu returns the processor time of the server so far, without its children.
// It is 0 without a server.
func (p *process) cpu() time.Duration {
	if p == nil {
		return 0
	}
	return cpuTime(p.cmd.Process.Pid)
}

// rss returns the memory of the process in MB.
func (p *process) rss() float64 { return procMB(p.cmd.Process.Pid, "status", "VmRSS") }

// peak returns the most memory that the process has held, in MB.
func (p *process) peak() float64 { return procMB(p.cmd.Process.Pid, "status", "VmHWM") }

// close ends the server as a client does: by the end of its input, over HTTP by
// an interrupt. It kills only a server that does not end.
func (p *process) close() error {
	kill := time.AfterFunc(closeTimeout, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	err := p.stdin.Close()
	if p.address != "" {
		err = errors.Join(err, p.cmd.Process.Signal(os.Interrupt))
	}
	p.reading.Wait()
	if wait := p.cmd.Wait(); wait != nil && p.address == "" {
		err = errors.Join(err, fmt.Errorf("the server ended with %w", wait))
	}
	if err != nil {
		err = fmt.Errorf("%w; its log: %s", err, p.log)
	}
	return err
}
