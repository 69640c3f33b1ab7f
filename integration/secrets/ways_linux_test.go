package secrets

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// named has no slash, so that files can have its name.
const named = "named-Secret-0123456789"

// leaky is a script that lets out what it was given in plain, in each way that leads to a
// client.
const leaky = `
escaped=$(printf '%s' "$PLAIN" | sed 's,/,\\/,g')
echo "1/3 progress $NAMED $PLAIN" >&2; echo "a line with $NAMED" >&2; echo "[error] logged $NAMED" >&2
case $1$2 in
--howask)
	echo "{\"mcp\":{\"ask\":{\"message\":\"Is $NAMED or $escaped right?\",\"schema\":{\"type\":\"object\",\"properties\":{\"$NAMED\":{\"type\":\"string\",\"description\":\"$escaped\"}}}}}}"
	read -r answer; echo "answered $answer" ;;
--howcall) echo "{\"mcp\":{\"call\":{\"skill\":\"other\",\"args\":{\"text\":\"$NAMED $escaped\"}}}}"; read -r answer; echo "$answer" ;;
--howfail) echo "stdout $NAMED"; echo "cannot use $NAMED" >&2; exit 3 ;;
--howresult)
	echo x > "/out/$NAMED.txt"; echo "$PLAIN" > /out/plain.txt; mkdir "/out/$NAMED"; echo y > "/out/$NAMED/a.bin"; ln -s /etc/passwd "/out/link-$NAMED"
	echo "{\"mcp\":{\"content\":[\"$NAMED $escaped\",{\"path\":\"plain.txt\"},{\"type\":\"resource_link\",\"uri\":\"test://x\",\"name\":\"$escaped\"}],\"structuredContent\":{\"$NAMED\":\"$escaped\"}}}" ;;
--howfault) echo "{\"mcp\":{\"$NAMED\":1}}" ;;
--howslow) sleep 6; echo "late $NAMED" ;;
esac
`

// No way from a script to a client has a value that it sees: answers, progress, log messages,
// questions, tasks, jobs, names of files, errors, and the record. An argument with a value is
// refused, and in no record or question.
func TestWays(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	a := lab.NewAccount(t, "native", `
policy:
  skills:
    leaky: {approve: always, calls: [other], secrets: [{name: PLAIN, plain: true}, {name: NAMED, plain: true}]}
`)
	a.Skill("leaky/SKILL.md", "---\nname: leaky\ndescription: Leaks.\nscript: run.sh\nasks: [person]\ncalls: [other]\nsecrets: [WANTED, NAMED]\nparams:\n  how: {type: string}\n  n: {type: integer}\n---\n")
	a.Skill("leaky/run.sh", leaky)
	a.Skill("other/SKILL.md", "---\nname: other\ndescription: Prints its text.\nscript: run.sh\nparams:\n  text: {type: string}\n---\n")
	a.Skill("other/run.sh", `echo "called with $2"`)
	for name, value := range map[string]string{"PLAIN": plain, "NAMED": named} {
		set := a.Command(lab.Binary, "secret", "set", name)
		set.Stdin = strings.NewReader(value + "\n")
		if out, code := a.Finish(set); code != 0 {
			t.Fatal(out)
		}
	}

	everything := map[string]*bytes.Buffer{}
	reads := func(c *lab.ToolClient, name string) {
		everything[name] = &bytes.Buffer{}
		c.Out = bufio.NewReader(io.TeeReader(c.Out, everything[name]))
	}
	how := func(word string) map[string]any { return map[string]any{"how": word} }
	c := a.Serve("legacy", `{"elicitation":{}}`)
	reads(c, "the wire")
	c.Send(`{"jsonrpc":"2.0","id":"level","method":"logging/setLevel","params":{"level":"debug"}}`)

	for _, args := range []map[string]any{how("use " + named), {"n": named}, how(strings.Repeat("x", 5000) + plain)} {
		before := everything["the wire"].Len()
		c.Fails(c.Call("leaky", args), "INVALID_PARAM")
		if strings.Contains(everything["the wire"].String()[before:], "elicitation/create") {
			t.Errorf("somebody was asked about %v", args)
		}
	}
	id := c.Waits(c.Call("leaky", how("none")))
	if out, _ := a.Run("approvals", id); !strings.Contains(out, "skills-mcp secret set WANTED and then skills-mcp secret grant leaky WANTED --host HOST") || strings.Contains(out, "the secret NAMED, which it does not have") {
		t.Errorf("the question: %s", out)
	}
	a.ApproveAs(id, "always")

	call := func(word string) lab.Reply {
		return c.Request(lab.ToolCall{Name: "leaky", Args: how(word)}, map[string]any{"_meta": map[string]any{"progressToken": word}})
	}
	asked := call("ask")
	c.Succeeds(c.Answer(asked, `{"action":"decline"}`), "answered")
	c.Succeeds(call("call"), "called with [secret NAMED] [secret PLAIN]")
	c.Fails(call("fail"), "cannot use [secret NAMED]")
	c.Succeeds(call("result"), "[secret NAMED] [secret PLAIN]")
	c.Fails(call("fault"), `"[secret NAMED]" is not known in a result object`)
	wire := everything["the wire"].String()
	for _, want := range []string{"notifications/progress", "progress [secret NAMED] [secret PLAIN]", "notifications/message", "logged [secret NAMED]", "Is [secret NAMED] or [secret PLAIN] right?", `[secret NAMED].txt`} {
		if !strings.Contains(wire, want) {
			t.Errorf("the wire lacks %q: %s", want, wire)
		}
	}

	modern := a.Serve("modern", `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	reads(modern, "the tasks")
	r := modern.Call("leaky", how("slow"))
	_, id, _ = strings.Cut(everything["the tasks"].String(), `"taskId":"`)
	id, _, _ = strings.Cut(id, `"`)
	for deadline := time.Now().Add(lab.Patience); !strings.Contains(everything["the tasks"].String(), "late [secret NAMED]"); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) || id == "" {
			t.Fatalf("no task has ended: %+v, %s", r, everything["the tasks"])
		}
		modern.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"get","method":"tasks/get","params":{"taskId":%q,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, id))
		modern.Receive()
	}
	token := filepath.Join(a.Home, "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := a.Listens("127.0.0.1:0", "--token-file", token)
	execute := func(word string) string {
		answer := lab.Request(t, "POST", s.Address+"/v1/skills/leaky/execute", strings.NewReader(fmt.Sprintf(`{"params": {"how": %q}}`, word)),
			"Authorization: Bearer 0123456789abcdef0123456789abcdef", "Content-Type: application/json", "Accept: text/event-stream")
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	everything["a job's refusal"] = bytes.NewBufferString(execute(named))
	id = lab.ApprovalID.FindStringSubmatch(execute("none"))[1]
	a.ApproveAs(id, "always")
	for _, word := range []string{"result", "fail", "fault"} {
		events := execute(word)
		if everything["a job, "+word] = bytes.NewBufferString(events); !strings.Contains(events, "event: end") || !strings.Contains(events, "[secret NAMED]") {
			t.Errorf("the events of a job: %s", events)
		}
	}
	everything["the log"] = bytes.NewBufferString(c.Log.String() + modern.Log.String())
	for _, command := range [][]string{{"runs", "--json"}, {"runs", "--limit", "50"}, {"approvals", "--all", "--json"}, {"show", "leaky"}} {
		out, _ := a.Run(command...)
		everything[strings.Join(command, " ")] = bytes.NewBufferString(out)
	}
	if runs := everything["runs --json"].String(); !strings.Contains(runs, `"how":"use [secret NAMED]"`) {
		t.Errorf("the record lacks the refused call: %s", runs)
	}
	_ = filepath.WalkDir(a.Home, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(name)
			everything[name] = bytes.NewBuffer(data)
		}
		return nil
	})
	for place, text := range everything {
		for _, secret := range []string{plain, named} {
			if spelling := holds(text.Bytes(), secret); spelling != "" {
				t.Errorf("%s has %.9s…, %s", place, secret, spelling)
			}
			if bytes.Contains(text.Bytes(), []byte(strings.ReplaceAll(secret, "/", `\/`))) {
				t.Errorf("%s has %.9s…, escaped", place, secret)
			}
		}
	}
}
