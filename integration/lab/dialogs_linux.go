package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A ModelAPI answers over the APIs of Anthropic (/v1/messages) and OpenAI (/v1/responses): it
// calls one tool, and is done with its result.
type ModelAPI struct {
	Url, Tool, Args string

	mu      sync.Mutex
	results []string // of the tool, as the client passed them on; guarded by mu
}

// ServeHTTP implements [http.Handler].
func (m *ModelAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a client that is gone gets an answer, too
	var request struct {
		Messages, Input []json.RawMessage
		Tools           []struct{ Type, Name string }
	}
	_ = json.Unmarshal(body, &request) // other requests have none of it
	w.Header().Set("Content-Type", "text/event-stream")
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1/messages") && len(request.Messages) > 0:
		m.anthropic(w, m.calls(request.Messages, `"tool_result"`) && len(request.Tools) > 0)
	case r.URL.Path == "/v1/responses":
		m.openai(w, m.calls(request.Input, `"function_call_output"`) && len(request.Tools) > 0)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[],"models":[],"input_tokens":1}`)
	}
}

// calls reports whether the tool is still to be called, and keeps its result.
func (m *ModelAPI) calls(messages []json.RawMessage, mark string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, message := range slices.Backward(messages) {
		if strings.Contains(string(message), mark) {
			m.results = append(m.results, string(message))
			return false
		}
	}
	return true
}

// Told returns the results of the tool.
func (m *ModelAPI) Told() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.results, "\n")
}

// event writes a server-sent event.
func event(w io.Writer, kind, fields string) {
	fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q,%s}\n\n", kind, kind, fields)
}

func (m *ModelAPI) anthropic(w io.Writer, calls bool) {
	block, delta, stop := `{"type":"text","text":""}`, `{"type":"text_delta","text":"Done."}`, "end_turn"
	if calls {
		args, _ := json.Marshal(m.Args) // a text can be encoded
		block, delta, stop = fmt.Sprintf(`{"type":"tool_use","id":"toolu_1","name":"mcp__skills__%s","input":{}}`, m.Tool),
			fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, args), "tool_use"
	}
	event(w, "message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`)
	event(w, "content_block_start", `"index":0,"content_block":`+block)
	event(w, "content_block_delta", `"index":0,"delta":`+delta)
	event(w, "content_block_stop", `"index":0`)
	event(w, "message_delta", fmt.Sprintf(`"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":1}`, stop))
	event(w, "message_stop", `"x":0`)
}

func (m *ModelAPI) openai(w io.Writer, calls bool) {
	item := `{"type":"message","id":"m_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Done.","annotations":[]}]}`
	if calls {
		args, _ := json.Marshal(m.Args)
		item = fmt.Sprintf(`{"type":"function_call","id":"fc_1","call_id":"call_1","namespace":"mcp__skills","name":%q,"arguments":%s,"status":"completed"}`, strings.ReplaceAll(m.Tool, "-", "_"), args)
	}
	event(w, "response.created", `"response":{"id":"r1"}`)
	event(w, "response.output_item.done", `"output_index":0,"item":`+item)
	event(w, "response.completed", `"response":{"id":"r1","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}`)
}

// A display is a terminal of 100 columns and 40 rows with a program.
type display struct {
	t      *testing.T
	socket string
}

// newDisplay starts a program of the account on a screen, which ends with the test.
func (a *Account) newDisplay(environ []string, name string, args ...string) *display {
	a.T.Helper()
	Requires(a.T, "CI", program("tmux")(a.T.Context()))
	s := &display{a.T, filepath.Join(a.Home, "tmux")}
	line := slices.Concat([]string{"-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "env", "-i", "TERM=xterm-256color"}, environ, []string{name}, args)
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, line...)...)
	cmd.Dir, cmd.Env = a.Workspace, append(os.Environ(), "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		a.T.Fatalf("tmux: %v\n%s", err, out)
	}
	a.T.Cleanup(func() {
		if a.T.Failed() {
			a.T.Logf("the screen:\n%s", s.text())
		}
		pid, _ := s.tmux("display-message", "-p", "#{pane_pid}") // the program may have ended
		_, _ = s.tmux("kill-server")
		if pid = strings.TrimSpace(pid); pid != "" { // it still writes as it ends
			Awaits(a.T, "^$", func() string {
				line, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline")) // of one that has ended, nothing
				return string(line)
			})
		}
		a.leave()
	})
	return s
}

// leave removes the home folder, in which programs that the client has started may still
// write for a moment.
func (a *Account) leave() {
	Awaits(a.T, "^$", a.endDaemons)
	Awaits(a.T, "^$", func() string {
		if err := os.RemoveAll(a.Home); err != nil {
			return err.Error()
		}
		return ""
	})
}

// endDaemons kills the programs that run from the home folder, which would go on for good,
// with servers of their own. It returns those that it found.
func (a *Account) endDaemons() (found string) {
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range commands {
		line, _ := os.ReadFile(name)
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && strings.HasPrefix(string(line), a.Home+"/") {
			found += string(line) + "\n"
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
	}
	return found
}

func (s *display) tmux(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).Output()
	return string(out), err
}

// text returns the rows of the screen.
func (s *display) text() string {
	out, err := s.tmux("capture-pane", "-p")
	if err != nil {
		return fmt.Sprintf("%s\n(the program has ended: %v)", out, err)
	}
	return out
}

// Press presses keys, which are named as for tmux.
func (s *display) Press(keys ...string) {
	s.t.Helper()
	if _, err := s.tmux(append([]string{"send-keys"}, keys...)...); err != nil {
		s.t.Fatalf("send-keys %s: %v", keys, err)
	}
}

// Shows waits until a pattern matches the screen, and returns the screen.
func (s *display) Shows(pattern string) string {
	s.t.Helper()
	return Awaits(s.t, pattern, s.text)
}

// Read takes the time that a person needs to read a question: a faster yes is no person's.
func (s *display) Read() { time.Sleep(1200 * time.Millisecond) }

// prompt types a request to the model, and has it sent.
func (s *display) prompt(text string) {
	s.t.Helper()
	s.Press("-l", text)
	s.Shows(regexp.QuoteMeta(text))
	s.Press("Enter")
}

// Claude starts Claude Code in the account, with more settings as JSON fields.
func (a *Account) Claude(m *ModelAPI, settings string) *display {
	a.T.Helper()
	tools := NodeTools(a.T)
	entry, err := json.Marshal(map[string]any{"type": "stdio", "command": Binary, "args": []string{"serve"}, "env": pairs(a.environ())})
	if err != nil {
		a.T.Fatal(err)
	}
	const key = "sk-ant-abcdefghijklmnopqrst"
	WriteFile(a.T, filepath.Join(a.Home, ".claude.json"), fmt.Sprintf(`{"hasCompletedOnboarding":true,"theme":"dark",
		"customApiKeyResponses":{"approved":[%q],"rejected":[]},"mcpServers":{"skills":%s},
		"projects":{%q:{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`, key[len(key)-20:], entry, a.Workspace))
	WriteFile(a.T, filepath.Join(a.Home, ".claude", "settings.json"), `{"permissions":{"allow":["mcp__skills"]}`+settings+`}`)
	s := a.newDisplay(append(a.environ(), "ANTHROPIC_BASE_URL="+m.Url, "ANTHROPIC_API_KEY="+key, "ENABLE_TOOL_SEARCH=false",
		"MCP_TIMEOUT=600000", "MCP_TOOL_TIMEOUT=600000", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"), filepath.Join(tools, "claude"))
	s.Shows(`(?m)^❯`)
	s.prompt("rename the files")
	return s
}

// Codex starts Codex in the account, with more settings, which are TOML.
func (a *Account) Codex(m *ModelAPI, settings string) *display {
	a.T.Helper()
	tools := NodeTools(a.T)
	var environ []string
	for name, value := range pairs(a.environ()) {
		environ = append(environ, fmt.Sprintf("%s=%q", name, value))
	}
	WriteFile(a.T, filepath.Join(a.Home, ".codex", "config.toml"), fmt.Sprintf(`model = "m"
model_provider = "here"
check_for_update_on_startup = false
%s
[model_providers.here]
name = "here"
base_url = "%s/v1"
wire_api = "responses"
[projects.%q]
trust_level = "trusted"
[mcp_servers.skills]
command = %q
args = ["serve"]
env = {%s}
startup_timeout_sec = 600
tool_timeout_sec = 600
`, settings, m.Url, a.Workspace, Binary, strings.Join(environ, ", ")))
	s := a.newDisplay(append(a.environ(), "OPENAI_API_KEY=sk-x"), filepath.Join(tools, "codex"))
	s.Shows("Ask Codex to do anything")
	s.prompt("rename the files")
	return s
}

// pairs returns an environment as a map.
func pairs(environ []string) map[string]string {
	all := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	return all
}

// inspectorAddress matches the address that MCP Inspector's page is at.
var inspectorAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+\?MCP_INSPECTOR_API_TOKEN=\w+`)

// InspectorPage calls the skill in MCP Inspector's page.
func (a *Account) InspectorPage() *Browser {
	a.T.Helper()
	server := map[string]any{"type": "stdio", "command": Binary, "args": []string{"serve"}, "env": pairs(a.environ()), "connectionTimeout": 600_000}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"skills": server}})
	if err != nil {
		a.T.Fatal(err)
	}
	file := filepath.Join(a.Home, "inspector.json")
	WriteFile(a.T, file, string(config))
	cmd := exec.Command(filepath.Join(NodeTools(a.T), "mcp-inspector-web"), "--config", file)
	cmd.Dir, cmd.SysProcAttr = a.Home, &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(a.environ(), "MCP_AUTO_OPEN_ENABLED=false", fmt.Sprintf("CLIENT_PORT=%d", freePort(a.T)), fmt.Sprintf("MCP_SANDBOX_PORT=%d", freePort(a.T)))
	log := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		a.T.Fatal(err)
	}
	a.T.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it ends its server, too
		_ = cmd.Wait()                          // its exit status is no result
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		a.leave()
	})
	b := NewBrowser(a.T)
	b.Size(1280, 800, "light")
	b.Open(inspectorAddress.FindString(Awaits(a.T, inspectorAddress.String(), log.String)))
	b.Await(`document.querySelector("[role=switch]") !== null`)
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[role=switch]").click()`))
	b.pick("Tools")
	b.pick("Rename files")
	for _, field := range []struct{ label, value string }{{"pattern", "*.csv"}, {"to", "c"}} {
		input := fmt.Sprintf(`document.getElementById([...document.querySelectorAll("label")].find(l => l.innerText.trim() === %q)?.htmlFor)`, field.label)
		b.Await(input + ` !== null`)
		b.Do(chromedp.Evaluate[chromedp.Void](input+`.focus()`), chromedp.KeyEvent(field.value))
	}
	b.pick("Execute Tool")
	return b
}

// pick clicks the element with a text as soon as there is one.
func (b *Browser) pick(text string) {
	b.t.Helper()
	element := fmt.Sprintf(`[...document.querySelectorAll("button, label, a, p, span, [role=radio], [role=tab]")].find(e => e.innerText?.trim() === %q)`, text)
	b.Await(element + ` !== undefined`)
	b.Do(chromedp.Evaluate[chromedp.Void](element + `.click()`))
}

// freePort returns a port that nobody listened on a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
