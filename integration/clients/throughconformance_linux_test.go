package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A subject is an MCP server that the official suite tests directly, and through a plugin.
type subject struct {
	name   string
	script string   // below its folder
	direct []string // arguments and, as NAME=VALUE, variables with which it serves HTTP on PORT
	least  int      // the scenarios that pass directly
	// refused are the scenarios that pass directly only, and why.
	refused map[string]string
}

// subjects are a server that has all fixtures of the suite, and the reference server, which
// has none.
func subjects() []subject {
	const unknown = "the tool is not there, which its SDK says by a result, with a text and isError, and this server by an error of the protocol"
	return []subject{
		{"conformance", "conformance.mjs", []string{"PORT"}, 32, map[string]string{"tools-call-sampling": "no server may ask the client's model"}},
		{"everything", "node_modules/@modelcontextprotocol/server-everything/dist/index.js", []string{"streamableHttp", "PORT=PORT"}, 11, map[string]string{"tools-call-error": unknown, "tools-call-simple-text": unknown}},
	}
}

// A scenario of the official suite that a server passes, it passes through a plugin as well.
func TestConformanceThroughPlugins(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			direct, through := passed(t, tools, s.serve(t, tools)), passed(t, tools, s.aggregate(t))
			both := 0
			for scenario := range direct {
				if (direct[scenario] == "") != (through[scenario] == "") {
					t.Logf("%s: directly %q, through the plugin %q", scenario, direct[scenario], through[scenario])
				}
				switch {
				case through[scenario] == "" && s.refused[scenario] == "":
					both++
				case through[scenario] == "":
					t.Errorf("%s passes through the plugin, too", scenario)
				case s.refused[scenario] == "" && direct[scenario] == "":
					t.Errorf("%s passes directly, and not through the plugin: %s", scenario, through[scenario])
				}
			}
			t.Logf("%d scenarios: %d pass directly, %d through the plugin", len(direct), count(direct), count(through))
			if count(direct) < s.least {
				t.Errorf("%d scenarios pass directly, want %d: %v", count(direct), s.least, direct)
			}
		})
	}
}

// count returns the number of scenarios without a problem.
func count(all map[string]string) (n int) {
	for _, problem := range all {
		if problem == "" {
			n++
		}
	}
	return n
}

// passed runs the suite, and returns the first problem of each scenario; "" is none.
func passed(t *testing.T, tools, url string) map[string]string {
	t.Helper()
	run, results, all := suiteRun{command: "mcp-conformance", args: []string{"--requirements", "2025-11-25"}}, t.TempDir(), map[string]string{}
	for _, scenario := range run.runAll(t, tools, url, results, t.TempDir()) {
		all[scenario] = ""
		for _, problem := range problems(readChecks(t, results, scenario)) {
			all[scenario] = problem.ID + ": " + problem.ErrorMessage
		}
	}
	return all
}

// serve starts the server by itself, and returns its address.
func (s *subject) serve(t *testing.T, tools string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(serverPackages(t), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	copyFixture(t, dir)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	cmd := exec.Command(filepath.Join(tools, "node"), "--preserve-symlinks", filepath.Join(dir, s.script))
	cmd.Env = os.Environ()
	for _, arg := range s.direct {
		if arg = strings.ReplaceAll(arg, "PORT=PORT", "PORT="+address[strings.LastIndex(address, ":")+1:]); strings.Contains(arg, "=") {
			cmd.Env = append(cmd.Env, arg)
			continue
		}
		cmd.Args = append(cmd.Args, strings.ReplaceAll(arg, "PORT", address[strings.LastIndex(address, ":")+1:]))
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	within(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return "http://" + address + "/mcp"
}

// copyFixture writes the server with the fixtures to a folder.
func copyFixture(t *testing.T, dir string) {
	t.Helper()
	program, err := os.ReadFile(filepath.Join("testdata", "pluginserver", "conformance.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	lab.WriteFile(t, filepath.Join(dir, "conformance.mjs"), string(program))
}

// aggregate serves the server's plugin, and returns the address of a proxy that gives its
// tools, prompts and resources the names that the suite knows.
func (s *subject) aggregate(t *testing.T) string {
	t.Helper()
	a := lab.NewAccount(t, "native", "")
	dir := filepath.Join(a.Home, "plugins", "sut")
	lab.WriteFile(t, filepath.Join(dir, "plugin.json"), fmt.Sprintf(`{"name": "sut", "mcpServers": {"all": {"command": "node", "args": ["${CLAUDE_PLUGIN_ROOT}/%s"]}}}`, s.script))
	copyFixture(t, dir)
	copyPrograms(t, filepath.Join(dir, "node_modules"), serverPackages(t))
	a.Configure(fmt.Sprintf("plugins: [%q]\nexpose: {mode: all}\npolicy: {forms: all, skills: {\"*\": {class: safe}}}\n", filepath.Join(a.Home, "plugins")))
	if out, code := a.Run("run", "sut/all"); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	server := a.Listens("127.0.0.1:0")
	token, err := os.ReadFile(server.TokenFile())
	if err != nil {
		t.Fatal(err)
	}
	return renaming(t, server.Address, strings.TrimSpace(string(token)), "sut__all__", "plugin://sut/all/") + "/mcp"
}

// renaming returns the address of a proxy that puts prefixes before the names and the URIs of
// requests, and takes them off in answers.
func renaming(t *testing.T, to, token, name, uri string) string {
	t.Helper()
	server, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	through := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
			body, _ := io.ReadAll(r.In.Body) // a broken request is the server's to refuse
			body = prefixed(body, name, uri)
			r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Out.Header.Set("Content-Length", strconv.Itoa(len(body)))
		},
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del("Content-Length")
			r.ContentLength = -1
			lines, inner := bufio.NewReader(r.Body), r.Body
			out, in := io.Pipe()
			go func() {
				defer inner.Close()
				for {
					line, err := lines.ReadString('\n')
					if _, broken := io.WriteString(in, strings.NewReplacer(name, "", uri, "").Replace(line)); err != nil || broken != nil {
						_ = in.CloseWithError(err)
						return
					}
				}
			}()
			r.Body = out
			return nil
		},
	}
	proxy := httptest.NewServer(through)
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// prefixed puts prefixes before the name and the URI in a request.
func prefixed(body []byte, name, uri string) []byte {
	var request map[string]any
	if json.Unmarshal(body, &request) != nil {
		return body
	}
	params, _ := request["params"].(map[string]any)
	method, _ := request["method"].(string)
	if method == "completion/complete" {
		params, _ = params["ref"].(map[string]any)
	}
	if old, ok := params["name"].(string); ok && method != "initialize" {
		params["name"] = name + old
	}
	if old, ok := params["uri"].(string); ok {
		params["uri"] = uri + old
	}
	body, _ = json.Marshal(request) // it was decoded from JSON
	return body
}
