package integration

import (
	"bufio"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
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

// testToken is the token of servers whose clients send one.
const testToken = "0123456789abcdef0123"

// serveHTTP starts the built binary on a free port, and returns where it listens
// and a function that interrupts it and returns how long it took to end. It asks for no
// token, unless env has one.
func serveHTTP(t *testing.T, env []string, args ...string) (url string, stop func() time.Duration) {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	writeFile(t, config, configuration())
	if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "SKILLS_MCP_TOKEN=") }) {
		args = append(args, "--no-token")
	}
	cmd := exec.Command(binary, append([]string{"serve", "--config", config, "--listen", "127.0.0.1:0", "--transport", "http", "--sandbox", "native"}, args...)...)
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

// endpoint starts the built binary as [serveHTTP] does, with a driver and a token, and
// returns the address for clients, where the token is added. It ends with the test, and has
// to end well.
func endpoint(t *testing.T, driver string, args ...string) string {
	t.Helper()
	url, stop := serveHTTP(t, []string{"SKILLS_MCP_TOKEN=" + testToken}, append([]string{"--sandbox", driver}, args...)...)
	address := adding(t, url, "Authorization", "Bearer "+testToken)
	t.Cleanup(func() { stop() })
	return address + "/mcp"
}

// adding returns the address of a proxy to a server, for programs that cannot be told to
// send a header.
func adding(t *testing.T, to, name, value string) string {
	t.Helper()
	server, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	through := &httputil.ReverseProxy{
		FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Host = r.In.Host
			r.Out.Header.Set(name, value)
		},
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The answer may begin before the last read of the request, and would close its body:
		// the other connection would break.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
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

// post sends a message with headers, "Name: value" each.
func post(t *testing.T, url, body string, headers ...string) *http.Response {
	t.Helper()
	return request(t, "POST", url, strings.NewReader(body), append(headers, "Content-Type: application/json")...)
}

// get opens a stream.
func get(t *testing.T, url string, headers ...string) *http.Response {
	t.Helper()
	return request(t, "GET", url, nil, headers...)
}

func request(t *testing.T, method, url string, body io.Reader, headers ...string) *http.Response {
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

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// The server ends soon, with streams open and a call running.
func TestEndOverHTTP(t *testing.T) {
	t.Parallel()
	skills := t.TempDir()
	writeFile(t, filepath.Join(skills, "slow", "SKILL.md"), "---\nname: slow\ndescription: d\nscript: run.sh\n---\n")
	writeFile(t, filepath.Join(skills, "slow", "run.sh"), "echo begun >&2\nsleep 600\n")
	url, stop := serveHTTP(t, nil, "--skills", skills)
	url += "/mcp"
	session := "Mcp-Session-Id: " + post(t, url, initialize).Header.Get("Mcp-Session-Id")
	r, _ := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	r.Header.Set("Mcp-Session-Id", strings.TrimPrefix(session, "Mcp-Session-Id: "))
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	call := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}`, session)
	lines := bufio.NewScanner(call.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "begun") {
	}
	if took := stop(); took > 10*time.Second { // it is three seconds on a machine that is not busy
		t.Errorf("it took %v", took)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream: %v", err)
	}
}

// Where there is a token, nobody gets in without it.
func TestToken(t *testing.T) {
	t.Parallel()
	const secret = testToken
	url, stop := serveHTTP(t, []string{"SKILLS_MCP_TOKEN=" + secret})
	for authorization, status := range map[string]int{
		"": 401, "Bearer " + secret: 200, "bearer " + secret: 200, "Bearer wrong": 401, "Basic " + secret: 401, secret: 401, "Bearer " + secret + "x": 401,
	} {
		if got := post(t, url+"/mcp", initialize, "Authorization: "+authorization); got.StatusCode != status {
			t.Errorf("%q: %s, want %d", authorization, got.Status, status)
		}
	}
	response, err := http.Get(url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 200 {
		t.Error(response.Status)
	}
	stop()
}

// Beside its endpoints the server says where they are; pages of this machine may call
// them.
func TestPaths(t *testing.T) {
	t.Parallel()
	url, stop := serveHTTP(t, []string{"SKILLS_MCP_TOKEN=" + testToken})
	for path, want := range map[string]string{
		"/other":   "MCP is served at /mcp\n",
		"/sse":     "MCP is served at /mcp; the deprecated /sse is there with --transport sse\n",
		"/message": "MCP is served at /mcp; the deprecated /sse is there with --transport sse\n",
	} {
		response := get(t, url+path, "Authorization: Bearer "+testToken)
		if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != 404 || string(body) != want {
			t.Errorf("%s: %s %q, %v", path, response.Status, body, err)
		}
	}
	// Those of MCP, and then those of the REST API.
	preflight := request(t, "OPTIONS", url+"/mcp", nil, "Origin: http://localhost:6274", "Access-Control-Request-Method: POST")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":   "http://localhost:6274",
		"Access-Control-Allow-Methods":  "GET, POST, DELETE, PUT",
		"Access-Control-Allow-Headers":  "Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, Prefer",
		"Access-Control-Expose-Headers": "Mcp-Session-Id, Allow, Location, Preference-Applied, Retry-After",
	} {
		if got := preflight.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	stop()
}
