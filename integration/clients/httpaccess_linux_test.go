package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/sandbox"
)

// modernCall returns the body of a tools/call of 2026-07-28, and its headers.
func modernCall(tool, arguments, capabilities, more string) (body string, headers []string) {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`, tool, arguments, more, capabilities),
		[]string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: " + tool, "Accept: application/json, text/event-stream"}
}

// raw returns a request as it is sent, for a connection that ends with it.
func raw(body string, headers ...string) string {
	if !slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Host: ") }) {
		headers = append(headers, "Host: localhost")
	}
	return "POST /mcp HTTP/1.1\r\n" + strings.Join(headers, "\r\n") +
		fmt.Sprintf("\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// otherUser is a user who is not the one of the tests.
const otherUser = sandbox.Nobody

// as sends a request as a user, and returns the status and the answer. With leave it
// closes the connection at once, and returns "".
func as(t *testing.T, uid uint32, host, port, request string, leave bool) (status, answer string) {
	t.Helper()
	script := `exec 3<>/dev/tcp/$1/$2; cat >&3; cat <&3`
	if leave {
		script = `exec 3<>/dev/tcp/$1/$2; cat >&3; exec 3>&-`
	}
	cmd := exec.CommandContext(t.Context(), "/bin/bash", "-c", script, "bash", host, port)
	cmd.Dir, cmd.Stdin = "/", strings.NewReader(request)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	status, _, _ = strings.Cut(strings.TrimPrefix(string(out), "HTTP/1.1 "), "\r\n")
	return status, string(out)
}

// rootAccount returns an account whose tests become another user.
func rootAccount(t *testing.T) *lab.Account {
	t.Helper()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_ROOT", lab.CheckRoot(t.Context()))
	a := lab.NativeAccount(t, "")
	a.Skill("greet/SKILL.md", "---\nname: greet\ndescription: Greets.\nscript: run.sh\n---\n")
	a.Skill("greet/run.sh", "echo hello\n")
	return a
}

// Another user of the machine reaches a server without a token by no address, and one that
// hangs up before it is known is not taken for root.
func TestOtherUserWithoutToken(t *testing.T) {
	t.Parallel()
	a := rootAccount(t)
	for listen, hosts := range map[string][]string{
		"127.0.0.1:0": {"127.0.0.1", "::ffff:127.0.0.1"},
		"[::1]:0":     {"::1"},
	} {
		s := a.Listens(listen, "--no-token")
		_, port, err := net.SplitHostPort(strings.TrimPrefix(s.Address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range hosts {
			status, answer := as(t, otherUser, host, port, raw(initialize), false)
			if !strings.HasPrefix(status, "403") || !strings.Contains(answer, fmt.Sprintf("it is of the user %d", otherUser)) {
				t.Errorf("%s: the other user got %s", host, answer)
			}
			if status, answer := as(t, uint32(os.Getuid()), host, port, raw(initialize), false); !strings.HasPrefix(status, "200") {
				t.Errorf("%s: the own user got %s", host, answer)
			}
		}
		const leaving = 5
		body, headers := modernCall("greet", `{}`, `{}`, "")
		for range leaving {
			as(t, otherUser, hosts[0], port, raw(body, headers...), true)
		}
		s.Says(regexp.MustCompile(fmt.Sprintf(`(?s)(refused a request.*){%d}`, leaving+len(hosts))))
		// A probe is for everybody.
		probe := "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
		if status, answer := as(t, otherUser, hosts[0], port, probe, false); !strings.HasPrefix(status, "200") {
			t.Errorf("the probe got %s", answer)
		}
	}
	if out, code := a.Run("runs", "--json"); code != 0 || strings.Contains(out, "greet") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// Another user can neither read the token that is made nor call without it.
func TestOtherUserWithToken(t *testing.T) {
	t.Parallel()
	a := rootAccount(t)
	s := a.Listens("127.0.0.1:0", "--ui")
	file := s.TokenFile()
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if secret := strings.TrimSpace(string(token)); len(secret) < 26 || strings.Contains(s.Said(), secret) {
		t.Errorf("the token %q, and what is printed:\n%s", secret, s.Said())
	}
	cat := exec.CommandContext(t.Context(), "/bin/cat", file)
	cat.Dir, cat.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	if out, err := cat.CombinedOutput(); err == nil {
		t.Errorf("the other user read %s", out)
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.Address, "http://"))
	body, headers := modernCall("greet", `{}`, `{}`, "")
	for _, given := range [][]string{nil, {"Authorization: Bearer "}, {"Authorization: Bearer " + file}} {
		if status, answer := as(t, otherUser, "127.0.0.1", port, raw(body, append(given, headers...)...), false); !strings.HasPrefix(status, "401") {
			t.Errorf("%s: %s", given, answer)
		}
	}
	if response := get(t, s.Address+"/v1/skills"); response.StatusCode != 401 {
		t.Errorf("REST without the token: %s", response.Status)
	}
	if response := post(t, s.Address+"/mcp", body, append(headers, "Authorization: Bearer "+strings.TrimSpace(string(token)))...); response.StatusCode != 200 {
		t.Errorf("with the token: %s", response.Status)
	}
}

// Without a token, no page but the server's own is let through, whatever its request says;
// with one, a page of this machine needs it, as that of MCP Inspector.
func TestPagesOverHTTP(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	open, closed := a.Listens("127.0.0.1:0", "--no-token", "--allow-origin", "http://localhost:4000"), a.Listens("127.0.0.1:0")
	token, err := os.ReadFile(closed.TokenFile())
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(open.Address, "http://"))
	bearer := "Authorization: Bearer " + strings.TrimSpace(string(token))
	send := func(method, address, host string, headers ...string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address+"/mcp", strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
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
	for _, test := range []struct {
		name, method, address, host, origin string
		headers                             []string
		status                              int
	}{
		{"a page of another port", "POST", open.Address, "", "http://localhost:3000", nil, 403},
		{"its preflight", "OPTIONS", open.Address, "", "http://localhost:3000", []string{"Access-Control-Request-Method: POST"}, 403},
		{"one of an address", "POST", open.Address, "", "http://127.0.0.1:3000", nil, 403},
		{"one of IPv6", "POST", open.Address, "", "http://[::1]:3000", nil, 403},
		{"one without a port", "POST", open.Address, "", "http://localhost", nil, 403},
		{"one like the server", "POST", open.Address, "", "http://localhost:" + port + ".evil.example.com", nil, 403},
		{"a user in it", "POST", open.Address, "localhost:" + port, "http://localhost:" + port + "@evil.example.com", nil, 403},
		{"a file", "POST", open.Address, "", "null", nil, 403},
		{"a name that leads here", "POST", open.Address, "evil.example.com:" + port, "http://evil.example.com:" + port, nil, 403},
		{"a name like this machine's", "POST", open.Address, "127.0.0.1.evil.example.com:" + port, "", nil, 403},
		{"the server's own page", "POST", open.Address, "localhost:" + port, "http://localhost:" + port, nil, 200},
		{"an allowed page", "POST", open.Address, "", "http://localhost:4000", nil, 200},
		{"no page", "POST", open.Address, "", "", nil, 200},
		{"a local page without the token", "POST", closed.Address, "", "http://localhost:6274", nil, 401},
		{"the preflight of one", "OPTIONS", closed.Address, "", "http://localhost:6274", []string{"Access-Control-Request-Method: POST"}, 204},
		{"a local page with the token", "POST", closed.Address, "", "http://localhost:6274", []string{bearer}, 200},
		{"a strange page with the token", "POST", closed.Address, "", "https://evil.example.com", []string{bearer}, 403},
	} {
		headers := test.headers
		if test.origin != "" {
			headers = append(headers, "Origin: "+test.origin)
		}
		got := send(test.method, test.address, test.host, headers...)
		if got.StatusCode != test.status {
			t.Errorf("%s: %s, want %d", test.name, got.Status, test.status)
		}
		if shared := got.Header.Get("Access-Control-Allow-Origin"); shared != "" && test.status == 403 {
			t.Errorf("%s: shared with %s", test.name, shared)
		}
	}
}

// Who calls without a token answers no form: there is none, in either era, and a forged
// answer says nothing. Who has the token is asked.
func TestFormsOverHTTP(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	form := regexp.MustCompile(`elicitation/create|input_required`)
	yes := `"inputResponses":{"approval":{"action":"accept","content":{"answer":"always"}}},"requestState":"x",`
	open := a.Listens("127.0.0.1:0", "--no-token")
	for _, more := range []string{"", yes} {
		body, headers := modernCall("note", `{"text":"modern"}`, `{"elicitation":{"form":{}}}`, more)
		answer, _ := io.ReadAll(post(t, open.Address+"/mcp", body, headers...).Body)
		if form.Match(answer) || more == "" && !bytes.Contains(answer, []byte("skills-mcp approve ")) {
			t.Errorf("modern, %q: %s", more, answer)
		}
	}
	legacy := func(address string, headers ...string) string {
		t.Helper()
		hello := strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)
		headers = append(headers, "Accept: application/json, text/event-stream")
		session := post(t, address+"/mcp", hello, headers...).Header.Get("Mcp-Session-Id")
		call := post(t, address+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{"text":"legacy"}}}`, append(headers, "Mcp-Session-Id: "+session)...)
		lines, said := bufio.NewScanner(call.Body), ""
		for lines.Scan() && !form.MatchString(said) { // which would wait for its answer
			said += lines.Text() + "\n"
		}
		return said
	}
	if said := legacy(open.Address); form.MatchString(said) || !strings.Contains(said, "skills-mcp approve ") {
		t.Errorf("legacy: %s", said)
	}
	closed := a.Listens("127.0.0.1:0")
	token, err := os.ReadFile(closed.TokenFile())
	if err != nil {
		t.Fatal(err)
	}
	bearer := "Authorization: Bearer " + strings.TrimSpace(string(token))
	if said := legacy(closed.Address, bearer); !form.MatchString(said) {
		t.Errorf("with the token, nobody was asked: %s", said)
	}
	body, headers := modernCall("note", `{"text":"with the token"}`, `{"elicitation":{"form":{}}}`, "")
	if answer, _ := io.ReadAll(post(t, closed.Address+"/mcp", body, append(headers, bearer)...).Body); !form.Match(answer) {
		t.Errorf("with the token, nobody was asked: %s", answer)
	}
	a.Wrote(0)
}

// Two servers that start at once share the token of their account, and two clients that
// connect writes it for call both at once. A third account's server does not know it.
func TestConnectWritesToken(t *testing.T) {
	t.Parallel()
	a, other := lab.NativeAccount(t, ""), lab.NativeAccount(t, "")
	for _, name := range []string{".cursor/mcp.json", ".gemini/settings.json"} {
		lab.WriteFile(t, filepath.Join(a.Home, name), "{}\n")
		if err := os.Chmod(filepath.Join(a.Home, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	servers := make([]*lab.HttpServer, 2)
	var starting sync.WaitGroup
	for i := range servers {
		starting.Go(func() { servers[i] = a.Listens("127.0.0.1:0") })
	}
	starting.Wait()
	foreign := other.Listens("127.0.0.1:0")
	var calls sync.WaitGroup
	for i, file := range []string{".cursor/mcp.json", ".gemini/settings.json"} {
		client, _, _ := strings.Cut(strings.TrimPrefix(file, "."), "/")
		target := servers[i].Address + "/mcp"
		if out, code := a.Run("connect", client, "--http", target); code != 0 || !strings.Contains(out, "Bearer TOKEN") || !strings.Contains(out, servers[i].TokenFile()) {
			t.Errorf("exit %d, %s", code, out)
		}
		if out, code := a.Run("connect", client, "--http", target, "--write"); code != 0 {
			t.Fatal(out)
		}
		path := filepath.Join(a.Home, file)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var config struct {
			Servers map[string]struct{ Headers map[string]string } `json:"mcpServers"`
		}
		if err := json.Unmarshal(text, &config); err != nil {
			t.Fatal(err)
		}
		bearer := "Authorization: " + config.Servers["skills"].Headers["Authorization"]
		for server, status := range map[*lab.HttpServer]int{servers[0]: 200, servers[1]: 200, foreign: 401} {
			calls.Go(func() {
				if got := post(t, server.Address+"/mcp", initialize, bearer); got.StatusCode != status {
					t.Errorf("%s: %s, want %d", server.Address, got.Status, status)
				}
			})
		}
	}
	calls.Wait()
	if a, b := servers[0].TokenFile(), servers[1].TokenFile(); a != b || a == foreign.TokenFile() {
		t.Errorf("the tokens are in %s, %s and %s", a, b, foreign.TokenFile())
	}
}

// On a server that other machines reach, a refusal names its operator, not the caller's
// terminal, and its page only if that can be reached.
func TestHintForOtherMachines(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	file := filepath.Join(a.Home, "token")
	if err := os.WriteFile(file, []byte(testToken), 0o600); err != nil {
		t.Fatal(err)
	}
	address := ""
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			address = n.IP.String()
		}
	}
	if address == "" {
		t.Skip("SKIPPED: this machine has no address but loopback")
	}
	hint := func(text string, args ...string) (answer string) {
		t.Helper()
		s := a.Listens(address+":0", append([]string{"--token-file", file}, args...)...)
		body, headers := modernCall("note", fmt.Sprintf(`{"text":%q}`, text), `{}`, "")
		said, _ := io.ReadAll(post(t, s.Address+"/mcp", body, append(headers, "Authorization: Bearer "+testToken)...).Body)
		return string(said)
	}
	if got := hint("one"); !strings.Contains(got, "through the operator of this server, who runs there: skills-mcp approve ") || strings.Contains(got, "terminal of their own") {
		t.Errorf("without a page: %s", got)
	}
	got := hint("two", "--ui")
	if !strings.Contains(got, "on the page, http://"+address) || strings.Contains(got, "skills-mcp approve") {
		t.Errorf("with a page: %s", got)
	}
	if link := regexp.MustCompile(`http://\S+`).FindString(got); link != "" {
		if u, err := url.Parse(link); err != nil || !strings.HasPrefix(u.Path, "/ui/approvals/") {
			t.Errorf("%s, %v", link, err)
		}
	}
}
