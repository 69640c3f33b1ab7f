package lab

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ServeHTTP starts the built binary on a free port, and returns where it listens
// and a function that interrupts it and returns how long it took to end. It asks for no
// token, unless env has one.
func ServeHTTP(t *testing.T, env []string, args ...string) (url string, stop func() time.Duration) {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	WriteFile(t, config, Configuration())
	if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "SKILLS_MCP_TOKEN=") }) {
		args = append(args, "--no-token")
	}
	cmd := exec.Command(Binary, append([]string{"serve", "--config", config, "--listen", "127.0.0.1:0", "--transport", "http", "--sandbox", "native"}, args...)...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), append([]string{"HOME=" + home, "XDG_CACHE_HOME=" + home}, env...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	lines := bufio.NewReader(stderr)
	url, said := listening(lines)
	go func() {
		_, _ = io.Copy(t.Output(), lines)
		ended <- cmd.Wait()
	}()
	if url == "" {
		t.Fatalf("the server says %q", said)
	}
	return url, func() time.Duration {
		t.Helper()
		begin := time.Now()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		return time.Since(begin)
	}
}

// listening reads until a server says where it listens, which may come after
// what it has to say about its skills.
func listening(lines *bufio.Reader) (url, said string) {
	address := regexp.MustCompile(`serving MCP at (http://\S+)/mcp`)
	for {
		line, err := lines.ReadString('\n')
		said += line
		if match := address.FindStringSubmatch(line); match != nil {
			return match[1], said
		}
		if err != nil {
			return "", said
		}
	}
}

func Request(t *testing.T, method, url string, body io.Reader, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}
