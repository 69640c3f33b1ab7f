package consent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// asking starts a server with the skills that ask.
func asking(t *testing.T, driver string) *lab.Wire {
	t.Helper()
	return serveScripts(t, driver, "asks: [person, model, roots]", lab.Askers)
}

// serveScripts starts a server with skills that are a shell script each, and have
// the same frontmatter.
func serveScripts(t *testing.T, driver, frontmatter string, scripts map[string]string) *lab.Wire {
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
	return lab.Speak(t, home, "--sandbox", driver, "--skills", filepath.Join(home, "skills"))
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
	lab.Drivers(t, func(t *testing.T, driver string) {
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
			asked := w.Call(test.skill, all, "")
			w.Asks(asked, test.key)
			w.Says(w.Call(test.skill, all, answer(asked.Result.RequestState, fmt.Sprintf(`{%q:%s}`, test.key, test.response))), test.want)
		}
	})
}

// TestAskingScenarios are the official suite's other ones.
func TestAskingScenarios(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	w := asking(t, "native")

	asked := w.Call("multiple", all, "")
	w.Asks(asked, "user_name", "greeting", "client_roots")
	w.Says(w.Call("multiple", all, answer(asked.Result.RequestState, fmt.Sprintf(`{"user_name":%s,"greeting":%s,"client_roots":%s}`, alice, paris, testRoots))),
		fmt.Sprintf(`All: {"client_roots":%s,"greeting":%s,"user_name":%s}`, testRoots, paris, alice))

	first := w.Call("rounds", all, "")
	w.Asks(first, "step1")
	second := w.Call("rounds", all, answer(first.Result.RequestState, `{"step1":`+alice+`}`))
	w.Asks(second, "step2")
	if first.Result.RequestState == second.Result.RequestState {
		t.Error("the state is the same in both rounds")
	}
	const blue = `{"action":"accept","content":{"color":"blue"}}`
	w.Says(w.Call("rounds", all, answer(second.Result.RequestState, `{"step2":`+blue+`}`)), `{"step1":`+alice+`} {"step2":`+blue+`}`)

	// Wrong and missing answers are asked for again; more than is asked is
	// ignored; what comes without a state is an answer, too.
	w.Asks(w.Call("elicitation", all, answer("", `{"wrong_key":`+alice+`}`)), "user_name")
	w.Asks(w.Call("elicitation", all, answer("", `{"user_name":12345}`)), "user_name")
	w.Asks(w.Call("elicitation", all, answer("", `null`)), "user_name")
	w.Says(w.Call("elicitation", all, answer("", `{"user_name":`+alice+`,"unknown":{"action":"accept"}}`)), "Hello, Alice!")
	if m := w.Call("elicitation", all, answer("", `[]`)); m.Error == nil {
		t.Errorf("answers that are no object: %+v", m)
	}

	asked = w.Call("state", all, "")
	for _, state := range []string{asked.Result.RequestState + "x", "x" + asked.Result.RequestState[1:], "nonsense"} {
		if m := w.Call("state", all, answer(state, `{"confirm":`+alice+`}`)); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("a state that was changed: %+v", m)
		}
	}
	if m := w.Call("plain", all, answer(asked.Result.RequestState, `{"ask-1":`+alice+`}`)); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("another skill's state: %+v", m)
	}

	// Only what the client can answer is put to it; a script is told the rest.
	w.Asks(w.Call("multiple", `{"sampling":{}}`, ""), "greeting")
	if m := w.Call("required", `{"elicitation":{}}`, ""); m.Error == nil || m.Error.Code != -32021 || string(m.Error.Data) != `{"requiredCapabilities":{"sampling":{}}}` {
		t.Errorf("a question that nobody answers: %+v", m)
	}
	w.Says(w.Call("plain", `{}`, ""), "before\nkept: "+`{"error":"nobody can be asked: the client shows no forms (it does not declare elicitation)"}`)
}

// TestAskingTooMany has more calls wait than a caller may have: the oldest is
// told so when its answer comes.
func TestAskingTooMany(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	w := asking(t, "native")
	var states []string
	for range 6 { // more than run at once for one caller, too
		m := w.Call("plain", all, "")
		w.Asks(m, "ask-1")
		states = append(states, m.Result.RequestState)
	}
	m := w.Call("plain", all, answer(states[0], `{"ask-1":{"action":"accept","content":{"answer":"yes"}}}`))
	if !m.Result.IsError || !strings.Contains(m.Result.Content[0].Text, "TIMEOUT: ") {
		t.Errorf("the oldest: %+v", m)
	}
	w.Says(w.Call("plain", all, answer(states[5], `{"ask-1":{"action":"accept","content":{"answer":"yes"}}}`)), "before\ndeleted")
}

// TestAskingLegacy has a skill ask a client by requests.
func TestAskingLegacy(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		w := asking(t, driver)
		w.Greet(`{"elicitation":{}}`)
		w.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain","arguments":{}}}`)
		asked := w.Receive()
		if asked.Method != "elicitation/create" || string(asked.Params) != `{"message":"Skill plain asks: Delete 3 files?","requestedSchema":{"type":"object","properties":{"answer":{"type":"string","title":"Your answer","enum":["no","yes"]}},"required":["answer"]}}` {
			t.Fatalf("asked %s %s", asked.Method, asked.Params)
		}
		w.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"yes"}}}`, asked.ID))
		w.Says(w.Receive(), "before\ndeleted")

		// A client that accepts every form, empty, says nothing.
		for _, content := range []string{`,"content":{}`, ``, `,"content":null`, `,"content":{"answer":""}`} {
			w.Send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plain","arguments":{}}}`)
			w.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"%s}}`, w.Receive().ID, content))
			if m := w.Receive(); len(m.Result.Content) == 0 || !strings.Contains(m.Result.Content[0].Text, "kept") {
				t.Errorf("accepted with %q: %+v", content, m)
			}
		}

		w.Send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"multiple","arguments":{}}}`)
		asked = w.Receive() // for the form alone
		w.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"not now"}}`, asked.ID))
		m := w.Receive()
		if len(m.Result.Content) == 0 || strings.Count(m.Result.Content[0].Text, `"error"`) != 3 {
			t.Errorf("answers %+v", m)
		}
	})
}
