package serving

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// An everywhere has one skill, under every URL.
type everywhere struct {
	text    string
	fetches int
}

func (w *everywhere) Fetch(_ context.Context, r source.Request, into *quarantine.Folder) (*source.Fetched, error) {
	w.fetches++
	if r.Named {
		return nil, &source.RefusedError{Reason: "the person has not written this URL"}
	}
	return &source.Fetched{Revision: "1", Trees: []source.Tree{{Path: "."}}}, into.Create("SKILL.md", false, strings.NewReader(w.text))
}

func (w *everywhere) Revision(context.Context, source.Source) (string, error) { return "1", nil }

// A modelClient speaks to a server over pipes, and is asked for the person.
type modelClient struct {
	t     *testing.T
	in    io.Writer
	lines *bufio.Scanner
	mute  bool // it cannot ask
}

// A modelAnswer is the answer to a request, or the question that comes first.
type modelAnswer struct {
	Result struct {
		RequestState  string
		InputRequests map[string]struct{ Params struct{ Message string } }
		Content       []struct{ Text string }
		IsError       bool
		Messages      []struct{ Content struct{ Text string } }
		Tools         []struct{ Name string }
		Prompts       []struct{ Name string }
	}
	Error *struct{ Message string }
}

func (a *modelAnswer) text() string {
	if a.Error != nil {
		return a.Error.Message
	}
	for _, c := range a.Result.Content {
		return c.Text
	}
	return ""
}

// question returns the key and the message of the question; "" without one.
func (a *modelAnswer) question() (key, message string) {
	for key, asked := range a.Result.InputRequests {
		return key, asked.Params.Message
	}
	return "", ""
}

func (c *modelClient) request(method, params string) *modelAnswer {
	c.t.Helper()
	capabilities := `{"elicitation":{}}`
	if c.mute {
		capabilities = `{}`
	}
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}}}`+"\n", method, params, capabilities)
	for c.lines.Scan() {
		if !bytes.Contains(c.lines.Bytes(), []byte(`"id":7`)) {
			continue
		}
		answer := &modelAnswer{}
		if err := json.Unmarshal(c.lines.Bytes(), answer); err != nil {
			c.t.Fatal(err)
		}
		return answer
	}
	c.t.Fatal(c.lines.Err())
	return nil
}

const installCall = `"name":"install_skill","arguments":{"source":"https://skills.example/greet.zip"},`

func (c *modelClient) install(more string) *modelAnswer {
	c.t.Helper()
	return c.request("tools/call", installCall+more)
}

// answer answers the question of a call with a word.
func (c *modelClient) answer(asked *modelAnswer, word string) *modelAnswer {
	c.t.Helper()
	key, message := asked.question()
	if key == "" {
		c.t.Fatalf("nothing is asked: %+v", asked)
	}
	if !strings.Contains(message, "wants to install a skill") {
		c.t.Errorf("it asks %s", message)
	}
	return c.install(fmt.Sprintf(`"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{"answer":%q}}},`, asked.Result.RequestState, key, word))
}

// serveInstalls serves a configuration, with the skills of an everywhere.
func serveInstalls(t *testing.T, configuration string, from *everywhere) (*setup.Settings, *modelClient) {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, filepath.Join(home, strings.ToLower(name)))
	}
	file := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(file, []byte("roots: {session: false, system: false, samples: false}\n"+configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openSettings(t, setup.Flags{Config: file})
	snapshots, err := setup.OpenSnapshots()
	if err != nil {
		t.Fatal(err)
	}
	s.Sandboxes.Pins = s.Pins(snapshots)
	runner := s.Sandboxes.Runner()
	t.Cleanup(func() { _ = runner.Close() })
	options := serverOptions(s, snapshots)
	s.Machine.Install = func(bool) *install.Options {
		return &install.Options{Fetchers: map[source.Kind]install.Fetcher{source.URL: from}}
	}
	options.FirstScan, options.Installer = 0, modelInstaller{s.Machine}
	srv := server.New(s.Sandboxes.Executor(runner, nil, snapshots, s.Approvals(nil)), options)
	in, input := io.Pipe()
	output, out := io.Pipe()
	done := make(chan error, 1)
	ctx := identity.NewContext(t.Context(), identity.Principal{Kind: identity.Model})
	go func() {
		done <- transport.ServeStdio(ctx, srv.Backend(), in, out, nil)
		_ = out.Close()
	}()
	c := &modelClient{t: t, in: input, lines: bufio.NewScanner(output)}
	c.lines.Buffer(nil, 1<<20)
	t.Cleanup(func() {
		_ = input.Close()
		for c.lines.Scan() { // to the end
		}
		<-done
		srv.Close()
	})
	return s, c
}

const greet = "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n"

// Without a rule that names it, a call is refused before anything is fetched.
func TestModelInstallsByRule(t *testing.T) {
	from := &everywhere{text: greet}
	_, c := serveInstalls(t, "", from)
	if got := c.install("").text(); !strings.Contains(got, "PERMISSION_DENIED") || !strings.Contains(got, "no rule of the person names it") || from.fetches > 0 {
		t.Errorf("%d fetches: %s", from.fetches, got)
	}
}

// A call is asked about each time, with the lines that a person at a terminal sees; the
// yes is for what was shown.
func TestModelInstalls(t *testing.T) {
	from := &everywhere{text: greet + "Bow.\n"}
	s, c := serveInstalls(t, "policy: {forms: all, skills: {install_skill: {approve: always}}}\n", from)
	asked := c.install("")
	_, message := asked.question()
	for _, want := range []string{`> "greet", a skill`, "> Greets.", "> https://skills.example/greet.zip", "nothing but to be read", "wants to install a skill (name="} {
		if !strings.Contains(message, want) {
			t.Errorf("the question lacks %q:\n%s", want, message)
		}
	}
	skill := filepath.Join(s.Roots.Data, "skills", "greet", "SKILL.md")
	if got := c.answer(asked, "no").text(); !strings.Contains(got, "the person said no") {
		t.Error(got)
	}
	if _, err := os.Stat(skill); err == nil {
		t.Fatal("it is installed after a no")
	}
	if again := c.install(""); !strings.Contains(again.text(), "the person said no") {
		t.Errorf("after a no: %+v", again)
	}

	// Other content is another question.
	from.text = greet
	asked = c.install("")
	from.text = strings.Replace(greet, "hello", "goodbye", 1)
	if got := c.answer(asked, "once"); got.Result.IsError || !strings.Contains(got.text(), `"greet"`) {
		t.Fatalf("%+v", got)
	}
	if text, err := os.ReadFile(skill); string(text) != greet {
		t.Errorf("installed is %q, %v; the person saw another text", text, err)
	}
	catalog, err := s.Scan(t.Context())
	if err != nil || len(catalog.Skills) != 1 {
		t.Fatal(catalog, err)
	}
	if compared, err := s.Sandboxes.Pins.Compare(t.Context(), catalog.Skills[0]); err != nil || compared.Pin == nil || !compared.Pin.ByPerson {
		t.Errorf("it is not pinned: %+v, %v", compared, err)
	}
	if rest, err := filepath.Glob(filepath.Join(s.Roots.Data, "state", "work", "*")); err != nil || len(rest) > 0 {
		t.Errorf("left are %q, %v", rest, err)
	}

	// The other text is another question: it gains nothing, and is asked about all the same.
	if key, _ := c.install("").question(); key == "" {
		t.Error("a new version is installed without a question")
	}

	// What another skill may do already is a gain of this one.
	const looks = "List the names in `~/.ssh`.\n"
	putFile(t, filepath.Join(s.Roots.Data, "skills", "aaa", "SKILL.md"), "---\nname: aaa\ndescription: Comes first.\n---\n"+looks)
	from.text = greet + looks
	_, message = c.install("").question()
	for _, want := range []string{"It gains, and nobody has accepted yet:\n> + names a place of credentials, ~/.ssh", "> +List the names"} {
		if !strings.Contains(message, want) {
			t.Errorf("the question lacks %q:\n%s", want, message)
		}
	}
}

// A model names no path of this machine.
func TestModelInstallsNoPath(t *testing.T) {
	_, c := serveInstalls(t, "policy: {skills: {install_skill: {approve: each}}}\n", &everywhere{text: greet})
	for _, path := range []string{t.TempDir(), "./skills", "file:///etc/passwd.zip"} {
		got := c.request("tools/call", fmt.Sprintf(`"name":"install_skill","arguments":{"source":%q},`, path))
		if !strings.Contains(got.text(), "INVALID_PARAM") {
			t.Errorf("%s: %s", path, got.text())
		}
	}
}

// The prompt is a message that has the model call the tool.
func TestPromptToInstall(t *testing.T) {
	_, c := serveInstalls(t, "", &everywhere{})
	var names []string
	for _, p := range c.request("prompts/list", "").Result.Prompts {
		names = append(names, p.Name)
	}
	if strings.Join(names, " ") != "use_skill install" {
		t.Errorf("the prompts are %q", names)
	}
	got := c.request("prompts/get", `"name":"install","arguments":{"source":"owner/repo","name":"report"},`)
	if len(got.Result.Messages) != 1 || !strings.Contains(got.Result.Messages[0].Content.Text, `Install the skill "report" from "owner/repo" with the tool install_skill.`) {
		t.Errorf("%+v %+v", got.Result, got.Error)
	}
	if got := c.request("prompts/get", `"name":"install","arguments":{},`); got.Error == nil || !strings.Contains(got.Error.Message, "source") {
		t.Errorf("%+v", got)
	}
}

// The question waits for a terminal, also where the client shows forms; the same call then
// succeeds once, and only with the same content.
func TestModelInstallsAfterApproval(t *testing.T) {
	for name, mute := range map[string]bool{"a client with forms": false, "a mute one": true} {
		t.Run(name, func(t *testing.T) { installsAfterApproval(t, mute) })
	}
}

func installsAfterApproval(t *testing.T, mute bool) {
	from := &everywhere{text: greet}
	s, c := serveInstalls(t, "policy: {skills: {install_skill: {approve: each}}}\n", from)
	c.mute = mute
	waits := func() string {
		t.Helper()
		got := c.install("").text()
		if !strings.Contains(got, "APPROVAL_REQUIRED") || !strings.Contains(got, `would install "greet"`) || strings.Contains(got, "Greets.") {
			t.Fatal(got)
		}
		list, err := s.Approvals(nil).List(t.Context(), false)
		if err != nil || len(list) == 0 || !strings.Contains(strings.Join(list[0].Shown().Terminal(), "\n"), "> Greets.") {
			t.Fatal(list, err)
		}
		return list[0].ID
	}
	approve := func(id string) {
		t.Helper()
		a := s.Approvals(nil)
		r, err := a.Open(t.Context(), id, approval.Local())
		if err == nil {
			err = a.Confirm(t.Context(), r, approval.Local(), approval.ByPage, approval.Once)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	first := waits()
	if again := waits(); again != first {
		t.Errorf("the same call is another question: %s, %s", first, again)
	}
	approve(first)
	from.text = strings.Replace(greet, "hello", "goodbye", 1)
	if other := waits(); other == first {
		t.Error("other content is covered by the same approval")
	}
	from.text = greet
	if got := c.install(""); got.Result.IsError || !strings.Contains(got.text(), `"greet"`) {
		t.Fatalf("%+v", got)
	}
	if got := c.install("").text(); !strings.Contains(got, "it is installed already") {
		t.Error(got)
	}
}
