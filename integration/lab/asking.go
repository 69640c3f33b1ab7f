package lab

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

// Askers has shell scripts of skills that ask, by the names of tools in the scenarios
// input-required-result-* of the official conformance suite.
var Askers = map[string]string{
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

// Speak starts a server in a home folder, with more arguments.
func Speak(t *testing.T, home string, args ...string) *Wire {
	t.Helper()
	config := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(config, []byte(Configuration()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(Binary, append([]string{"serve", "--config", config}, args...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "DOCKER_HOST=" + os.Getenv("DOCKER_HOST")}
	cmd.Dir = home
	in, out := connect(t, cmd)
	return &Wire{t, in, bufio.NewReader(out)}
}

// connect starts cmd, a server on standard input and output, which has to end well, with the
// test. It has the time that it needs: a busy engine takes long to remove a container.
func connect(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, io.Reader) {
	t.Helper()
	cmd.Stderr = os.Stderr
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
	return in, out
}

// Wire speaks to a server line by line.
type Wire struct {
	t   *testing.T
	in  io.Writer
	Out *bufio.Reader
}

// A Message is a line that a server sends.
type Message struct {
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

func (w *Wire) Send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *Wire) Receive() (m Message) {
	w.t.Helper()
	line, err := w.Out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err != nil {
		w.t.Fatalf("%v in %q", err, line)
	}
	return m
}

// Call calls a skill as a modern client with capabilities does. more is put among
// the parameters.
func (w *Wire) Call(skill, capabilities, more string) Message {
	w.t.Helper()
	w.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}%s}}`, skill, capabilities, more))
	return w.Receive()
}

// Asks asserts that a reply asks for keys, and nothing else.
func (w *Wire) Asks(m Message, keys ...string) {
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

// Says asserts that a reply is a result with this text.
func (w *Wire) Says(m Message, text string) {
	w.t.Helper()
	if m.Error != nil || m.Result.ResultType == "input_required" || m.Result.IsError || len(m.Result.Content) == 0 || strings.TrimSpace(m.Result.Content[0].Text) != text {
		w.t.Errorf("%+v %+v, want %q", m, m.Error, text)
	}
}
