package clients

import (
	"bufio"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// testToken is the token of servers whose clients send one.
const testToken = "0123456789abcdef0123"

// endpoint starts the built binary as [lab.ServeHTTP] does, with a driver and a token, and
// returns the address for clients, where the token is added. It ends with the test, and has
// to end well.
func endpoint(t *testing.T, driver string, args ...string) string {
	t.Helper()
	url, stop := lab.ServeHTTP(t, []string{"SKILLS_MCP_TOKEN=" + testToken}, append([]string{"--sandbox", driver}, args...)...)
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
	return lab.Request(t, "POST", url, strings.NewReader(body), append(headers, "Content-Type: application/json")...)
}

// get opens a stream.
func get(t *testing.T, url string, headers ...string) *http.Response {
	t.Helper()
	return lab.Request(t, "GET", url, nil, headers...)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// The server ends with streams open, and before a call that runs.
func TestEndOverHTTP(t *testing.T) {
	t.Parallel()
	skills := t.TempDir()
	lab.WriteFile(t, filepath.Join(skills, "slow", "SKILL.md"), "---\nname: slow\ndescription: d\nscript: run.sh\n---\n")
	lab.WriteFile(t, filepath.Join(skills, "slow", "run.sh"), "echo begun >&2\nsleep 600\n")
	config := filepath.Join(t.TempDir(), "config.yaml")
	lab.WriteFile(t, config, lab.Configuration()+"serve: {drain: 0s}\n") // else the call would have half a minute
	url, stop := lab.ServeHTTP(t, nil, "--skills", skills, "--config", config)
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
	if took := stop(); took > lab.Patience {
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
	url, stop := lab.ServeHTTP(t, []string{"SKILLS_MCP_TOKEN=" + secret})
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
	url, stop := lab.ServeHTTP(t, []string{"SKILLS_MCP_TOKEN=" + testToken})
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
	preflight := lab.Request(t, "OPTIONS", url+"/mcp", nil, "Origin: http://localhost:6274", "Access-Control-Request-Method: POST")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":   "http://localhost:6274",
		"Access-Control-Allow-Methods":  "GET, POST, DELETE, PUT",
		"Access-Control-Allow-Headers":  "Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, Skills-Profile, Prefer",
		"Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate, Allow, Location, Preference-Applied, Retry-After",
	} {
		if got := preflight.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	stop()
}
