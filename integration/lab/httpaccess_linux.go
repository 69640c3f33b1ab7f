package lab

import (
	"bufio"
	"bytes"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// An HttpServer is a server of an account over HTTP.
type HttpServer struct {
	t       *testing.T
	Address string // http://HOST:PORT
	cmd     *exec.Cmd
	ended   chan struct{} // closed at the end of its output

	mu  sync.Mutex
	log bytes.Buffer // standard error; guarded by mu
}

// Listens starts the account's server over HTTP. It ends with the test.
func (a *Account) Listens(listen string, args ...string) *HttpServer {
	a.T.Helper()
	cmd := a.Command(Binary, append([]string{"serve", "--transport", "http", "--listen", listen}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		a.T.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		a.T.Fatal(err)
	}
	s := &HttpServer{t: a.T, cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		for lines := bufio.NewReader(stderr); ; {
			line, err := lines.ReadString('\n')
			s.mu.Lock()
			s.log.WriteString(line)
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	a.T.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-s.ended
		_ = cmd.Wait()
	})
	s.Address = s.Says(regexp.MustCompile(`serving MCP at (http://\S+)/mcp\n`))[1]
	return s
}

// Kill ends the server at once, and waits for that.
func (s *HttpServer) Kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	<-s.ended
}

// Said returns what the server has printed.
func (s *HttpServer) Said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Says waits until the server has printed something.
func (s *HttpServer) Says(what *regexp.Regexp) []string {
	s.t.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if found := what.FindStringSubmatch(s.Said()); found != nil {
			return found
		}
	}
	s.t.Fatalf("it does not say %s, but\n%s", what, s.Said())
	return nil
}

// TokenFile returns the file in which the server says that its token is.
func (s *HttpServer) TokenFile() string {
	s.t.Helper()
	return s.Says(regexp.MustCompile(`Clients send the token in (\S+): `))[1]
}
