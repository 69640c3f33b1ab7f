package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// askers are skills that ask, in the shell alone: each is what the official
// conformance suite calls a tool of its scenarios input-required-result-*.
var askers = map[string]string{
	"elicitation": `
		echo '{"mcp":{"requests":{"user_name":{"method":"elicitation/create","params":{"message":"What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}}}}'
		read -r answer
		name=${answer#*'"name":"'}
		echo "Hello, ${name%%'"'*}!"`,
	"sampling": `
		echo '{"mcp":{"requests":{"capital_question":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"What is the capital of France?"}}],"maxTokens":100}}}}}'
		read -r answer
		echo "It is $answer"`,
	"roots": `
		echo '{"mcp":{"requests":{"client_roots":{"method":"roots/list"}}}}'
		read -r answer
		echo "Roots: $answer"`,
	"state": `
		echo '{"mcp":{"requests":{"confirm":{"method":"elicitation/create","params":{"message":"Please confirm","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}}}}}'
		read -r answer
		echo "state-ok"`,
	"multiple": `
		echo '{"mcp":{"requests":{"user_name":{"method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}},"greeting":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Greet"}}],"maxTokens":50}},"client_roots":{"method":"roots/list","params":{}}}}}'
		read -r answer
		echo "All: $answer"`,
	"rounds": `
		form() { echo '{"mcp":{"requests":{"'$1'":{"method":"elicitation/create","params":{"message":"'$1'","requestedSchema":{"type":"object","properties":{"'$2'":{"type":"string"}},"required":["'$2'"]}}}}}}'; }
		form step1 name; read -r name
		echo working >&2
		form step2 color; read -r color
		echo "$name $color"`,
	"required": `
		echo '{"mcp":{"requests":{"reply":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1},"required":true}}}}'
		read -r answer
		echo never`,
	"plain": `
		echo before
		echo '{"mcp":{"ask":"Delete 3 files?"}}'
		read -r answer
		case $answer in
		*'"accept"'*) echo deleted ;;
		*) echo "kept: $answer" ;;
		esac`,
}

// asking starts a server with the skills that ask.
func asking(t *testing.T, driver string) *wire {
	t.Helper()
	return serveScripts(t, driver, "asks: [person, model, roots]", askers)
}

// serveScripts starts a server with skills that are a shell script each, and have
// the same frontmatter.
func serveScripts(t *testing.T, driver, frontmatter string, scripts map[string]string) *wire {
	t.Helper()
	home := t.TempDir()
	for name, script := range scripts {
		folder := filepath.Join(home, "skills", name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		manifest := fmt.Sprintf("---\nname: %s\ndescription: Asks.\nscript: run.sh\n%s\n---\n", name, frontmatter)
		for file, content := range map[string]string{"SKILL.md": manifest, "run.sh": "set -eu" + script + "\n"} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return speak(t, home, "--sandbox", driver, "--skills", filepath.Join(home, "skills"))
}

// speak starts a server in a home folder, with more arguments.
func speak(t *testing.T, home string, args ...string) *wire {
	t.Helper()
	config := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(config, []byte(configuration()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, append([]string{"serve", "--config", config}, args...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "DOCKER_HOST=" + os.Getenv("DOCKER_HOST")}
	cmd.Dir, cmd.Stderr = home, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server did not end well: %v", err)
		}
	})
	return &wire{t, in, bufio.NewReader(out)}
}

// wire speaks to a server line by line.
type wire struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

// message is what a server sends.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct {
			Method string
			Params json.RawMessage
		}
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		Tools             []struct{ Name string } // of tools/list
	}
	Error *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) receive() (m message) {
	w.t.Helper()
	line, err := w.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err != nil {
		w.t.Fatalf("%v in %q", err, line)
	}
	return m
}

// call calls a skill as a modern client with capabilities does. more is put among
// the parameters.
func (w *wire) call(skill, capabilities, more string) message {
	w.t.Helper()
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}%s}}`, skill, capabilities, more))
	return w.receive()
}

// asks asserts that a reply asks for keys, and nothing else.
func (w *wire) asks(m message, keys ...string) {
	w.t.Helper()
	if m.Error != nil || m.Result.ResultType != "input_required" || len(m.Result.InputRequests) != len(keys) || m.Result.RequestState == "" {
		w.t.Fatalf("%+v, want to be asked for %q", m, keys)
	}
	for _, key := range keys {
		if m.Result.InputRequests[key].Method == "" {
			w.t.Errorf("%+v does not ask for %q", m, key)
		}
	}
}

// says asserts that a reply is a result with this text.
func (w *wire) says(m message, text string) {
	w.t.Helper()
	if m.Error != nil || m.Result.ResultType == "input_required" || m.Result.IsError || len(m.Result.Content) == 0 || strings.TrimSpace(m.Result.Content[0].Text) != text {
		w.t.Errorf("%+v %+v, want %q", m, m.Error, text)
	}
}

const (
	all       = `{"elicitation":{},"sampling":{},"roots":{}}`
	alice     = `{"action":"accept","content":{"name":"Alice"}}`
	paris     = `{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m"}`
	testRoots = `{"roots":[{"uri":"file:///test/root","name":"Test Root"}]}`
)

func answer(state, responses string) string {
	more := `,"inputResponses":` + responses
	if state != "" {
		more += fmt.Sprintf(`,"requestState":%q`, state)
	}
	return more
}

// TestAsking has skills ask modern clients.
func TestAsking(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		w := asking(t, driver)
		for _, test := range []struct{ skill, key, response, want string }{
			{"elicitation", "user_name", alice, "Hello, Alice!"},
			{"sampling", "capital_question", paris, `It is {"capital_question":` + paris + `}`},
			{"roots", "client_roots", testRoots, `Roots: {"client_roots":` + testRoots + `}`},
			{"state", "confirm", `{"action":"accept","content":{"ok":true}}`, "state-ok"},
			{"plain", "ask-1", `{"action":"accept","content":{"answer":"yes"}}`, "before\ndeleted"},
			{"plain", "ask-1", `{"action":"accept","content":{"answer":"no"}}`, "before\nkept: {\"action\":\"decline\"}"},
			{"plain", "ask-1", `{"action":"decline"}`, "before\nkept: {\"action\":\"decline\"}"},
		} {
			asked := w.call(test.skill, all, "")
			w.asks(asked, test.key)
			w.says(w.call(test.skill, all, answer(asked.Result.RequestState, fmt.Sprintf(`{%q:%s}`, test.key, test.response))), test.want)
		}
	})
}

// TestAskingScenarios are the official suite's other ones.
func TestAskingScenarios(t *testing.T) {
	t.Parallel()
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
	w := asking(t, "native")

	asked := w.call("multiple", all, "")
	w.asks(asked, "user_name", "greeting", "client_roots")
	w.says(w.call("multiple", all, answer(asked.Result.RequestState, fmt.Sprintf(`{"user_name":%s,"greeting":%s,"client_roots":%s}`, alice, paris, testRoots))),
		fmt.Sprintf(`All: {"client_roots":%s,"greeting":%s,"user_name":%s}`, testRoots, paris, alice))

	first := w.call("rounds", all, "")
	w.asks(first, "step1")
	second := w.call("rounds", all, answer(first.Result.RequestState, `{"step1":`+alice+`}`))
	w.asks(second, "step2")
	if first.Result.RequestState == second.Result.RequestState {
		t.Error("the state is the same in both rounds")
	}
	const blue = `{"action":"accept","content":{"color":"blue"}}`
	w.says(w.call("rounds", all, answer(second.Result.RequestState, `{"step2":`+blue+`}`)), `{"step1":`+alice+`} {"step2":`+blue+`}`)

	// Wrong and missing answers are asked for again; more than is asked is
	// ignored; what comes without a state is an answer, too.
	w.asks(w.call("elicitation", all, answer("", `{"wrong_key":`+alice+`}`)), "user_name")
	w.asks(w.call("elicitation", all, answer("", `{"user_name":12345}`)), "user_name")
	w.asks(w.call("elicitation", all, answer("", `null`)), "user_name")
	w.says(w.call("elicitation", all, answer("", `{"user_name":`+alice+`,"unknown":{"action":"accept"}}`)), "Hello, Alice!")
	if m := w.call("elicitation", all, answer("", `[]`)); m.Error == nil {
		t.Errorf("answers that are no object: %+v", m)
	}

	asked = w.call("state", all, "")
	for _, state := range []string{asked.Result.RequestState + "x", "x" + asked.Result.RequestState[1:], "nonsense"} {
		if m := w.call("state", all, answer(state, `{"confirm":`+alice+`}`)); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("a state that was changed: %+v", m)
		}
	}
	if m := w.call("plain", all, answer(asked.Result.RequestState, `{"ask-1":`+alice+`}`)); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("another skill's state: %+v", m)
	}

	// Only what the client can answer is put to it; a script is told the rest.
	w.asks(w.call("multiple", `{"sampling":{}}`, ""), "greeting")
	if m := w.call("required", `{"elicitation":{}}`, ""); m.Error == nil || m.Error.Code != -32021 || string(m.Error.Data) != `{"requiredCapabilities":{"sampling":{}}}` {
		t.Errorf("a question that nobody answers: %+v", m)
	}
	w.says(w.call("plain", `{}`, ""), "before\nkept: "+`{"error":"nobody can be asked: the client shows no forms (it does not declare elicitation)"}`)
}

// TestAskingTooMany has more calls wait than a caller may have: the oldest is
// told so when its answer comes.
func TestAskingTooMany(t *testing.T) {
	t.Parallel()
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
	w := asking(t, "native")
	var states []string
	for range 6 { // more than run at once for one caller, too
		m := w.call("plain", all, "")
		w.asks(m, "ask-1")
		states = append(states, m.Result.RequestState)
	}
	m := w.call("plain", all, answer(states[0], `{"ask-1":{"action":"accept","content":{"answer":"yes"}}}`))
	if !m.Result.IsError || !strings.Contains(m.Result.Content[0].Text, "TIMEOUT: ") {
		t.Errorf("the oldest: %+v", m)
	}
	w.says(w.call("plain", all, answer(states[5], `{"ask-1":{"action":"accept","content":{"answer":"yes"}}}`)), "before\ndeleted")
}

// TestAskingLegacy has a skill ask a client by requests.
func TestAskingLegacy(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		w := asking(t, driver)
		w.greet(`{"elicitation":{}}`)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain","arguments":{}}}`)
		asked := w.receive()
		if asked.Method != "elicitation/create" || string(asked.Params) != `{"message":"Skill plain asks: Delete 3 files?","requestedSchema":{"type":"object","properties":{"answer":{"type":"string","title":"Your answer","enum":["no","yes"]}},"required":["answer"]}}` {
			t.Fatalf("asked %s %s", asked.Method, asked.Params)
		}
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"yes"}}}`, asked.ID))
		w.says(w.receive(), "before\ndeleted")

		// A client that accepts every form, empty, says nothing.
		for _, content := range []string{`,"content":{}`, ``, `,"content":null`, `,"content":{"answer":""}`} {
			w.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plain","arguments":{}}}`)
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"%s}}`, w.receive().ID, content))
			if m := w.receive(); len(m.Result.Content) == 0 || !strings.Contains(m.Result.Content[0].Text, "kept") {
				t.Errorf("accepted with %q: %+v", content, m)
			}
		}

		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"multiple","arguments":{}}}`)
		asked = w.receive() // for the form alone
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"not now"}}`, asked.ID))
		m := w.receive()
		if len(m.Result.Content) == 0 || strings.Count(m.Result.Content[0].Text, `"error"`) != 3 {
			t.Errorf("answers %+v", m)
		}
	})
}
