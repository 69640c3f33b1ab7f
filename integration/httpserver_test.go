package integration

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// serveHTTP starts the built binary as an HTTP server on a free port, and
// returns the address of its endpoint. It ends with the test, and has to end
// well.
func serveHTTP(t *testing.T, driver string, args ...string) string {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	writeFile(t, config, configuration())
	args = append([]string{"serve", "--transport", "http", "--listen", "127.0.0.1:0", "--config", config, "--sandbox", driver}, args...)
	cmd := exec.Command(binary, args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"))
	logs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, drained := make(chan string, 1), make(chan struct{})
	go func() { // ended by the end of the process
		defer close(drained)
		readLogs(logs, address)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server did not end well: %v", err)
		}
	})
	select {
	case found := <-address:
		return found
	case <-drained:
		t.Fatal("the server ended before it said where it listens")
		return ""
	}
}

// readLogs passes a server's log on, and tells the address that is in it once.
func readLogs(logs io.Reader, address chan<- string) {
	endpoint := regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`)
	for lines := bufio.NewReader(logs); ; {
		line, err := lines.ReadString('\n')
		if found := endpoint.FindString(line); found != "" {
			select {
			case address <- found:
			default:
			}
		}
		_, _ = io.WriteString(os.Stderr, line)
		if err != nil {
			return
		}
	}
}

// absolute is the path of a file here, for a program that is started elsewhere.
func absolute(t *testing.T, names ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(names...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
