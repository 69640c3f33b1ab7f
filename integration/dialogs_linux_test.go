package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A modelAPI answers over the APIs of Anthropic (/v1/messages) and OpenAI (/v1/responses): it
// calls one tool, and is done with its result.
type modelAPI struct {
	url, tool, args string

	mu      sync.Mutex
	results []string // of the tool, as the client passed them on; guarded by mu
}

// newModel returns a model that calls a tool with arguments, which are JSON.
func newModel(t *testing.T, tool, args string) *modelAPI {
	m := &modelAPI{tool: tool, args: args}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// ServeHTTP implements [http.Handler].
func (m *modelAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
func (m *modelAPI) calls(messages []json.RawMessage, mark string) bool {
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

// told returns the results of the tool.
func (m *modelAPI) told() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.results, "\n")
}

// event writes a server-sent event.
func event(w io.Writer, kind, fields string) {
	fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q,%s}\n\n", kind, kind, fields)
}

func (m *modelAPI) anthropic(w io.Writer, calls bool) {
	block, delta, stop := `{"type":"text","text":""}`, `{"type":"text_delta","text":"Done."}`, "end_turn"
	if calls {
		args, _ := json.Marshal(m.args) // a text can be encoded
		block, delta, stop = fmt.Sprintf(`{"type":"tool_use","id":"toolu_1","name":"mcp__skills__%s","input":{}}`, m.tool),
			fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, args), "tool_use"
	}
	event(w, "message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`)
	event(w, "content_block_start", `"index":0,"content_block":`+block)
	event(w, "content_block_delta", `"index":0,"delta":`+delta)
	event(w, "content_block_stop", `"index":0`)
	event(w, "message_delta", fmt.Sprintf(`"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":1}`, stop))
	event(w, "message_stop", `"x":0`)
}

func (m *modelAPI) openai(w io.Writer, calls bool) {
	item := `{"type":"message","id":"m_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Done.","annotations":[]}]}`
	if calls {
		args, _ := json.Marshal(m.args)
		item = fmt.Sprintf(`{"type":"function_call","id":"fc_1","call_id":"call_1","namespace":"mcp__skills","name":%q,"arguments":%s,"status":"completed"}`, strings.ReplaceAll(m.tool, "-", "_"), args)
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
func (a *account) newDisplay(environ []string, name string, args ...string) *display {
	a.t.Helper()
	need(a.t, "CI", program("tmux")(a.t.Context()))
	s := &display{a.t, filepath.Join(a.home, "tmux")}
	line := slices.Concat([]string{"-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "env", "-i", "TERM=xterm-256color"}, environ, []string{name}, args)
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, line...)...)
	cmd.Dir, cmd.Env = a.workspace, append(os.Environ(), "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		a.t.Fatalf("tmux: %v\n%s", err, out)
	}
	a.t.Cleanup(func() {
		if a.t.Failed() {
			a.t.Logf("the screen:\n%s", s.text())
		}
		_, _ = s.tmux("kill-server") // the program may have ended
		a.leave()
	})
	return s
}

// leave removes the home folder, in which programs that the client has started may still
// write for a moment.
func (a *account) leave() {
	awaits(a.t, "^$", func() string {
		if err := os.RemoveAll(a.home); err != nil {
			return err.Error()
		}
		return ""
	})
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

// press presses keys, which are named as for tmux.
func (s *display) press(keys ...string) {
	s.t.Helper()
	if _, err := s.tmux(append([]string{"send-keys"}, keys...)...); err != nil {
		s.t.Fatalf("send-keys %s: %v", keys, err)
	}
}

// shows waits until a pattern matches the screen, and returns the screen.
func (s *display) shows(pattern string) string {
	s.t.Helper()
	return awaits(s.t, pattern, s.text)
}

// read takes the time that a person needs to read a question: a faster yes is no person's.
func (s *display) read() { time.Sleep(1200 * time.Millisecond) }

// prompt types a request to the model, and has it sent.
func (s *display) prompt(text string) {
	s.t.Helper()
	s.press("-l", text)
	s.shows(regexp.QuoteMeta(text))
	s.press("Enter")
}

// shop returns an account with a skill of somebody else's, which changes files and reaches a
// host, in a workspace of a plain name.
func shop(t *testing.T) *account {
	t.Helper()
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
	a := newAccount(t, "native", "")
	for _, name := range []string{"rename-files", "other-files"} {
		a.skill(name+"/SKILL.md", "---\nname: "+name+"\ndescription: Renames files.\nclass: mutating\nscript: run.sh\nparams: {pattern: string, to: string}\n---\n")
		a.skill(name+"/run.sh", "echo renamed >> \"$SKILL_WORKSPACE/notes\" && echo \"renamed $*\"\n")
	}
	a.configure("policy: {skills: {rename-files: {workspace: rw, network: [\"api.example.com:443\"]}}}\n")
	return a
}

// rename are the arguments of the call.
const rename = `{"pattern":"*.csv","to":"c"}`

// who matches the text that a person must be able to read whatever a client shows of the question.
const who = `rename-files wants to change files in ~/project \(pattern=\*\.csv, to=c\)`

// claude starts Claude Code in the account, with more settings as JSON fields.
func (a *account) claude(m *modelAPI, settings string) *display {
	a.t.Helper()
	tools := nodeTools(a.t)
	entry, err := json.Marshal(map[string]any{"type": "stdio", "command": binary, "args": []string{"serve"}, "env": pairs(a.environ())})
	if err != nil {
		a.t.Fatal(err)
	}
	const key = "sk-ant-abcdefghijklmnopqrst"
	writeFile(a.t, filepath.Join(a.home, ".claude.json"), fmt.Sprintf(`{"hasCompletedOnboarding":true,"theme":"dark",
		"customApiKeyResponses":{"approved":[%q],"rejected":[]},"mcpServers":{"skills":%s},
		"projects":{%q:{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`, key[len(key)-20:], entry, a.workspace))
	writeFile(a.t, filepath.Join(a.home, ".claude", "settings.json"), `{"permissions":{"allow":["mcp__skills"]}`+settings+`}`)
	s := a.newDisplay(append(a.environ(), "ANTHROPIC_BASE_URL="+m.url, "ANTHROPIC_API_KEY="+key, "ENABLE_TOOL_SEARCH=false",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"), filepath.Join(tools, "claude"))
	s.shows(`(?m)^❯`)
	s.prompt("rename the files")
	return s
}

// codex starts Codex in the account, with more settings, which are TOML.
func (a *account) codex(m *modelAPI, settings string) *display {
	a.t.Helper()
	tools := nodeTools(a.t)
	var environ []string
	for name, value := range pairs(a.environ()) {
		environ = append(environ, fmt.Sprintf("%s=%q", name, value))
	}
	writeFile(a.t, filepath.Join(a.home, ".codex", "config.toml"), fmt.Sprintf(`model = "m"
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
`, settings, m.url, a.workspace, binary, strings.Join(environ, ", ")))
	s := a.newDisplay(append(a.environ(), "OPENAI_API_KEY=sk-x"), filepath.Join(tools, "codex"))
	s.shows("Ask Codex to do anything")
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

// joined returns a text in one line, with single spaces.
func joined(text string) string { return strings.Join(strings.Fields(text), " ") }

// legible fails the test unless a person reads who wants what, and where, in what a client shows.
func legible(t *testing.T, shown string) {
	t.Helper()
	t.Logf("shown:\n%s", shown)
	for _, want := range []string{who, `connect to api\.example\.co`, `skills-mcp asks this, not the skill`} {
		if !regexp.MustCompile(want).MatchString(joined(shown)) {
			t.Errorf("%q cannot be read", want)
		}
	}
}

// TestDialogs: who wants what, and where, can be read in the dialogs of real clients, and an
// answer that a person gives there counts.
func TestDialogs(t *testing.T) {
	t.Parallel()
	t.Run("Claude Code", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		m := newModel(t, "rename-files", rename)
		s := a.claude(m, "")
		shown := s.shows(`Accept +Decline`)
		_, dialog, _ := strings.Cut(shown, "requests your input")
		question, _, _ := strings.Cut(dialog, "Your answer")
		legible(t, question)
		s.press("Right")
		s.shows(`❯ ◯ No`)
		s.press("Down")
		s.shows(`❯ ◯ Yes, once`)
		s.press("Enter")
		s.shows(`✔ Your answer`)
		s.read()
		s.press("Enter")
		awaits(t, "renamed", m.told)
		a.wrote(1)
	})
	t.Run("Codex", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		m := newModel(t, "rename-files", rename)
		s := a.codex(m, "")
		s.shows("Allow the skills MCP server to run tool")
		s.read() // Codex drops a key that comes with its dialog
		s.press("Enter")
		legible(t, s.shows(`› 1\. No`))
		s.press("Down")
		s.shows(`› 2\. Yes, once`)
		s.read()
		s.press("Enter")
		awaits(t, "renamed", m.told)
		a.wrote(1)
	})
	t.Run("MCP Inspector", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		b := a.inspectorPage()
		b.await(`document.querySelector("[role=dialog]") !== null`)
		dialog, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.querySelector("[role=dialog]").innerText`))
		if err != nil {
			t.Fatal(err)
		}
		legible(t, dialog)
	})
}

// Programs answer forms: hooks of the person's client, and a client that asks nobody. None of
// their answers is a yes.
func TestProgramsAnswerForms(t *testing.T) {
	t.Parallel()
	t.Run("a hook of Claude Code", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		m := newModel(t, "rename-files", rename)
		hook, err := json.Marshal(`echo '{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"answer":"always"}}}'`)
		if err != nil {
			t.Fatal(err)
		}
		a.claude(m, fmt.Sprintf(`,"hooks":{"Elicitation":[{"hooks":[{"type":"command","command":%s}]}]}`, hook))
		awaits(t, "APPROVAL_REQUIRED", m.told)
		a.wrote(0)
	})
	t.Run("Codex with full access", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		m := newModel(t, "rename-files", rename)
		a.codex(m, "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"")
		awaits(t, "APPROVAL_REQUIRED", m.told)
		a.wrote(0)
	})
}

// inspectorAddress matches the address that MCP Inspector's page is at.
var inspectorAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+\?MCP_INSPECTOR_API_TOKEN=\w+`)

// inspectorPage calls the skill in MCP Inspector's page.
func (a *account) inspectorPage() *browser {
	a.t.Helper()
	server := map[string]any{"type": "stdio", "command": binary, "args": []string{"serve"}, "env": pairs(a.environ())}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"skills": server}})
	if err != nil {
		a.t.Fatal(err)
	}
	file := filepath.Join(a.home, "inspector.json")
	writeFile(a.t, file, string(config))
	cmd := exec.Command(filepath.Join(nodeTools(a.t), "mcp-inspector-web"), "--config", file)
	cmd.Dir, cmd.SysProcAttr = a.home, &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(a.environ(), "MCP_AUTO_OPEN_ENABLED=false", fmt.Sprintf("CLIENT_PORT=%d", freePort(a.t)), fmt.Sprintf("MCP_SANDBOX_PORT=%d", freePort(a.t)))
	log := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it ends its server, too
		_ = cmd.Wait()                          // its exit status is no result
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		a.leave()
	})
	b := newBrowser(a.t)
	b.size(1280, 800, "light")
	b.open(inspectorAddress.FindString(awaits(a.t, inspectorAddress.String(), log.String)))
	b.await(`document.querySelector("[role=switch]") !== null`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[role=switch]").click()`))
	b.pick("Tools")
	b.pick("Rename files")
	for _, field := range []struct{ label, value string }{{"pattern", "*.csv"}, {"to", "c"}} {
		input := fmt.Sprintf(`document.getElementById([...document.querySelectorAll("label")].find(l => l.innerText.trim() === %q)?.htmlFor)`, field.label)
		b.await(input + ` !== null`)
		b.do(chromedp.Evaluate[chromedp.Void](input+`.focus()`), chromedp.KeyEvent(field.value))
	}
	b.pick("Execute Tool")
	return b
}

// pick clicks the element with a text as soon as there is one.
func (b *browser) pick(text string) {
	b.t.Helper()
	element := fmt.Sprintf(`[...document.querySelectorAll("button, label, a, p, span, [role=radio], [role=tab]")].find(e => e.innerText?.trim() === %q)`, text)
	b.await(element + ` !== undefined`)
	b.do(chromedp.Evaluate[chromedp.Void](element + `.click()`))
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
