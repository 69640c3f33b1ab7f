package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/plugins/conduit"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func plugin(servers ...skills.MCPServer) *skills.Catalog {
	return &skills.Catalog{Plugins: []*skills.Plugin{{Name: "p", Dir: "/p", File: "/p/plugin.json", Servers: servers}}}
}

// References come from grants alone, once, or from their default.
func TestExpand(t *testing.T) {
	cmd := &sandbox.Command{Env: []string{"NOTE=${HOME}", "EMPTY="}, Grant: sandbox.Grant{Data: "/d", Workspaces: []string{"/w"}}}
	t.Setenv("OURS", "leaked")
	for text, want := range map[string]string{
		"${CLAUDE_PLUGIN_ROOT}/a":      "/skill/a",
		"${CLAUDE_PLUGIN_DATA}":        "/plugin-data",
		"${CLAUDE_PROJECT_DIR}":        "/w",
		"${NOTE} ${NOTE:-x}":           "${HOME} ${HOME}",
		"${EMPTY:-x}|":                 "|",
		"${OURS:-default} $NOTE ${1}":  "default $NOTE ${1}",
		"${OTHER:-a b} ${UNCLOSED:-a ": "a b ${UNCLOSED:-a ",
	} {
		e := newExpander(cmd)
		if got := e.expand(text); got != want || len(e.missing) > 0 {
			t.Errorf("%s: %q, missing %v, want %q", text, got, e.missing, want)
		}
	}
	e := newExpander(cmd)
	if e.expand("${OURS} ${PATH}"); !slices.Equal(e.missing, []string{"OURS", "PATH"}) {
		t.Errorf("missing %v", e.missing)
	}
	for host, network := range map[string][]string{"HOST": nil, "api.example": {"api.example"}} {
		err := e.err(&skills.Skill{Name: "s", Entry: &skills.Entry{Network: network}})
		if want := "secret grant s OURS --host " + host + ";"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A command for a shell has the workspace as a variable alone: a shell would run what is
// written in the name of a folder.
func TestHookVariables(t *testing.T) {
	const command = "${CLAUDE_PLUGIN_ROOT}/a ${CLAUDE_PROJECT_DIR}"
	for _, test := range []struct {
		args []string // of a program; nil is for a shell
		want string
	}{
		{nil, "/skill/a ${CLAUDE_PROJECT_DIR}"},
		{[]string{}, "/skill/a /w/$(id)"},
	} {
		cmd := &sandbox.Command{Argv: []string{command}, Grant: sandbox.Grant{Workspaces: []string{"/w/$(id)"}}}
		hook := &skills.Skill{Entry: &skills.Entry{Hook: &skills.Hook{Args: test.args}}}
		if err := New(nil, nil, nil).Hook(identity.Principal{}, hook, cmd); err != nil {
			t.Fatal(err)
		}
		if cmd.Argv[0] != test.want || !slices.Contains(cmd.Env, "CLAUDE_PROJECT_DIR=/w/$(id)") {
			t.Errorf("%q with %q, want %q", cmd.Argv, cmd.Env, test.want)
		}
	}
}

// A tool that cannot be used costs itself, and not the server.
func TestExpandCatalog(t *testing.T) {
	changes := 0
	book := NewBook(t.TempDir(), &conduit.Settings{Enabled: []string{"*"}}, func(context.Context) { changes++ })
	catalog := plugin(skills.MCPServer{Name: "s", Transport: "stdio", Argv: []string{"python3", "${CLAUDE_PLUGIN_ROOT}/s.py", "${NOTE}"}})
	unknown := book.Expand(catalog)
	owner, err := unknown.Lookup("p/s")
	if err != nil || owner.Entry.Script != "s.py" || owner.Class != skills.Mutating || !slices.Equal(owner.Entry.Env, []string{"NOTE"}) || !owner.ModelInvocable {
		t.Fatalf("%+v, %v", owner, err)
	}
	if book.Expand(catalog) != unknown {
		t.Error("another result for the same catalog")
	}
	tools := []tool{
		{Name: "good", InputSchema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}, {Name: "good", InputSchema: []byte(`{"type":"object"}`)},
		{Name: "large", InputSchema: []byte(`{"type":"object","description":"` + strings.Repeat("x", 1<<20) + `"}`)},
		{Name: "wrong", InputSchema: []byte(`{"type":"string"}`)}, {Name: "header", InputSchema: []byte(`{"type":"object","x-mcp-header":"a"}`)}, {Name: "../..", InputSchema: []byte(`{"type":"object"}`)},
	}
	for range 2 {
		if err := book.write(t.Context(), owner, func(l *listing) { *l = listing{Known: true, Tools: tools} }); err != nil {
			t.Fatal(err)
		}
	}
	if changes != 1 {
		t.Errorf("told of %d changes", changes)
	}
	known := book.Expand(catalog)
	var names []string
	for _, s := range known.Skills {
		names = append(names, s.PlainToolName())
	}
	if known == unknown || !slices.Equal(names, []string{"p__s", "p__s__good"}) || len(known.Problems) != 5 {
		t.Errorf("%v, %v", names, known.Problems)
	}
}

// Calls share a process only where principal, grant, environment and secrets are the same,
// whatever the sentinels of a run are.
func TestKey(t *testing.T) {
	owner := newOwner(plugin().Plugins[0], skills.MCPServer{Name: "s", Argv: []string{"x"}}, nil)
	key := func(change func(*call, *sandbox.Command)) string {
		c := &call{who: identity.Principal{Kind: identity.Model}, skill: owner}
		cmd := &sandbox.Command{Folder: "/f", Argv: []string{"x"}, Env: []string{"A=1", "S=sentinel1"}, Grant: sandbox.Grant{
			Hosts: []string{"h:443"}, Secrets: &sandbox.Secrets{List: []sandbox.Secret{{Name: "S", Value: "value", Sentinel: "sentinel1", Hosts: []string{"h:443"}}}},
		}}
		change(c, cmd)
		equipped, err := egress.Equip(cmd)
		if err != nil {
			t.Fatal(err)
		}
		return c.key(equipped)
	}
	same := key(func(*call, *sandbox.Command) {})
	if key(func(_ *call, cmd *sandbox.Command) {
		cmd.Env = []string{"S=sentinel2", "A=1"}
		cmd.Grant.Secrets.List[0].Sentinel = "sentinel2"
	}) != same {
		t.Error("a new sentinel starts a new process")
	}
	certificate := func(text string) string {
		return key(func(_ *call, cmd *sandbox.Command) { cmd.Env[0] = "A=-----BEGIN CERTIFICATE-----" + text })
	}
	if certificate("one") == certificate("two") {
		t.Error("another certificate has the same process")
	}
	for name, change := range map[string]func(*call, *sandbox.Command){
		"principal": func(c *call, _ *sandbox.Command) { c.who.Session = "other" },
		"files":     func(_ *call, cmd *sandbox.Command) { cmd.Folder = "/g" },
		"variable":  func(_ *call, cmd *sandbox.Command) { cmd.Env[0] = "A=2" },
		"hosts":     func(_ *call, cmd *sandbox.Command) { cmd.Grant.Hosts = nil },
		"write":     func(_ *call, cmd *sandbox.Command) { cmd.Grant.Write = true },
		"secret":    func(_ *call, cmd *sandbox.Command) { cmd.Grant.Secrets.List[0].Value = "new" },
	} {
		if key(change) == same {
			t.Errorf("another %s has the same process", name)
		}
	}
}

// A writer never waits, and one without end is stopped.
func TestQueue(t *testing.T) {
	over := make(chan struct{})
	q := newQueue(func() { close(over) })
	chunk := make([]byte, 1<<20)
	for range maxQueue / len(chunk) {
		if _, err := q.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := io.CopyN(io.Discard, q, 1<<20); n != 1<<20 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := q.Write(chunk); err == nil {
		t.Error("more than the bound was taken")
	}
	<-over
	if n, err := q.Read(chunk); n != 0 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
}

// fakeDriver runs a server that answers nothing, and ends with its input.
type fakeDriver struct{ started, heard chan struct{} }

func (d fakeDriver) Close() error { return nil }

func (d fakeDriver) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	d.started <- struct{}{}
	if _, err := io.Copy(io.Discard, cmd.Stdin); err != nil || ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	close(d.heard)
	return &sandbox.Exit{}, nil
}

// A server that says nothing is ended with its input, and its callers are told.
func TestSilentServer(t *testing.T) {
	driver := fakeDriver{make(chan struct{}, 1), make(chan struct{})}
	runner := sandbox.New(driver, nil)
	servers := New(runner, NewBook(t.TempDir(), &conduit.Settings{Enabled: []string{"*"}}, func(context.Context) {}), &Options{Data: t.TempDir()})
	owner := newOwner(plugin().Plugins[0], skills.MCPServer{Name: "s", Argv: []string{"x"}}, nil)
	failed := make(chan error)
	go func() {
		_, err := runner.RunIn(t.Context(), servers.Call(identity.Principal{}, owner), sandbox.Command{RunID: "r", Argv: []string{"x"}, Stdin: strings.NewReader("{}")})
		failed <- err
	}()
	<-driver.started
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := runner.RunIn(ctx, servers.Call(identity.Principal{}, owner), sandbox.Command{RunID: "r2", Argv: []string{"x"}, Stdin: strings.NewReader("{}")}); err == nil {
		t.Error("a call that nobody waits for has succeeded")
	}
	servers.Leave(identity.Principal{}.Key())
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "has ended: it was idle") {
		t.Errorf("%v", err)
	}
	<-driver.heard // before it was killed
	if err := runner.Close(); err != nil {
		t.Error(err)
	}
}

// A text that says the structure again is left out, and any other content is not.
func TestRepeats(t *testing.T) {
	for text, want := range map[string]bool{
		`{"content":[{"type":"text","text":"{\"n\": 1.0,\"a\":[]}"}],"structuredContent":{"a":[],"n":1.0}}`:    true,
		`{"content":[{"type":"text","text":"{\"n\": 2}"}],"structuredContent":{"n":1}}`:                        false,
		`{"content":[{"type":"text","text":"one"}],"structuredContent":{"n":1}}`:                               false,
		`{"content":[{"type":"text","text":"null"}]}`:                                                          false,
		`{"content":[{"type":"text","text":"{}"},{"type":"text","text":"more"}],"structuredContent":{}}`:       false,
		`{"content":[{"type":"text","text":"{}","annotations":{"audience":["user"]}}],"structuredContent":{}}`: false,
		`{"content":[{"type":"image","data":"","mimeType":"image/png"}],"structuredContent":{}}`:               false,
		`{"content":[],"structuredContent":{}}`:                                                                false,
	} {
		var r result
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.repeats(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Two servers may have prompts and resources of the same name. A prompt or the reader of
// resources whose name a tool has gets another.
func TestExpandPrompts(t *testing.T) {
	book := NewBook(t.TempDir(), &conduit.Settings{}, func(context.Context) {})
	catalog := plugin(skills.MCPServer{Name: "one", Transport: "stdio", Argv: []string{"a"}}, skills.MCPServer{Name: "two", Transport: "stdio", Argv: []string{"b"}})
	many := []resource{{URI: "notes://a", Name: "a"}, {Template: "notes://{day}", Name: "day"}}
	for i := range 2 * maxResources {
		many = append(many, resource{URI: fmt.Sprint("notes://", i), Name: "n"})
	}
	var ask prompt
	if err := json.Unmarshal([]byte(`{"name":"ask","arguments":[{"name":"b","required":true},{"name":"a"},{"name":"b","required":true}]}`), &ask); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"p/one", "p/two"} {
		owner, err := book.Expand(catalog).Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := book.write(t.Context(), owner, func(l *listing) {
			l.Known, l.Prompts, l.Resources = true, []prompt{ask, {Name: "../.."}}, many
			if name == "p/two" {
				l.Tools = []tool{{Name: "ask", InputSchema: []byte(`{"type":"object"}`)}, {Name: "resources", InputSchema: []byte(`{"type":"object"}`)}}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	known := book.Expand(catalog)
	var names []string
	for _, s := range known.Skills {
		if s.Of != nil && !s.ModelInvocable {
			names = append(names, s.QualifiedName())
		}
	}
	if want := []string{"p/one__ask", "p/one__resources", "p/two__ask__prompt", "p/two__resources__read"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	one, err := known.Lookup("p/one__ask")
	if err != nil || !one.UserInvocable || len(one.Entry.Params()) != 2 || !one.Entry.Params()[0].Required {
		t.Errorf("%+v, %v", one, err)
	}
	if len(known.Problems) != 2 || !strings.Contains(known.Problems[0].Message, "the prompt ") {
		t.Errorf("problems %v", known.Problems)
	}
	if got := known.Resources(); len(got) != 2*maxResources || got[0].URI != "plugin://p/one/notes://a" || got[1].Template != "plugin://p/one/notes://{day}" {
		t.Errorf("%d resources, of them %v", len(got), got[:2])
	}
	for uri, want := range map[string]string{
		"plugin://p/one/notes://9?a#b": "p/one__resources notes://9?a#b", "plugin://p/two/x:": "p/two__resources__read x:",
		"plugin://p/three/notes://a": "", "plugin://p/one": "", "notes://a": "",
	} {
		reader, own := known.Read(uri)
		if got := own; reader != nil {
			if got = reader.QualifiedName() + " " + own; got != want {
				t.Errorf("%s: %s", uri, got)
			}
		} else if want != "" {
			t.Errorf("%s is nobody's", uri)
		}
	}
}

// Contents have the URIs that clients can read.
func TestReadable(t *testing.T) {
	owner := newOwner(plugin().Plugins[0], skills.MCPServer{Name: "s", Argv: []string{"x"}}, nil)
	for method, test := range map[string][2]string{
		skills.CallTool: {
			`{"content":[{"type":"text","text":"a:b"},{"type":"resource_link","uri":"a:b","name":"n"},{"type":"resource","resource":{"uri":"a:b","text":"t"}},{"type":"resource","resource":7},{"type":"resource_link"},9]}`,
			`{"content":[{"type":"text","text":"a:b"},{"name":"n","type":"resource_link","uri":"plugin://p/s/a:b"},{"resource":{"text":"t","uri":"plugin://p/s/a:b"},"type":"resource"},{"type":"resource","resource":7},{"type":"resource_link"},9]}`,
		},
		skills.GetPrompt: {
			`{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"t"}},{"role":"assistant","content":{"type":"resource_link","uri":"a:b"}}]}`,
			`{"content":[{"type":"text","text":"t"},{"type":"resource_link","uri":"plugin://p/s/a:b"}],"structuredContent":{"prompt":{"description":"d","roles":["user","assistant"]}}}`,
		},
		skills.ReadResource: {`{"contents":[{"uri":"a:b","blob":"AAE="}]}`, `{"content":[{"resource":{"blob":"AAE=","uri":"plugin://p/s/a:b"},"type":"resource"}]}`},
	} {
		skill, err := newTool(owner, &tool{Name: "t", InputSchema: []byte(`{"type":"object"}`)}, method)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := newResult([]byte(test[0]), skill)
		if got, _ := json.Marshal(answer); err != nil || string(got) != test[1] {
			t.Errorf("%s: %s, %v\nwant %s", method, got, err, test[1])
		}
	}
}

// Data folders are measured when their file system loses room, and not before. One with too
// much ends its servers, and so does a file system that somebody fills.
func TestDataWatch(t *testing.T) {
	const gb = 1 << 30
	s := newStage(t, fakeDriver{})
	defer s.runner.Close()
	skill, err := s.book.Expand(s.catalog).Lookup("p/s")
	if err != nil {
		t.Fatal(err)
	}
	p := newProcess(skill, s.book, "", &sandbox.Command{}, func(*process, string) {})
	defer p.discard()
	p.dir = t.TempDir()
	var w dataWatch
	w.look(10*gb, p.check)
	file, err := os.Create(filepath.Join(p.dir, "sparse"))
	if err = errors.Join(err, file.Truncate(2*maxData), file.Close()); err != nil {
		t.Fatal(err)
	}
	if pause := w.look(10*gb-maxUnseen, p.check); pause != fastEvery || p.ctx.Err() != nil {
		t.Errorf("pause %s, %v: the folder was measured too early", pause, p.ctx.Err())
	}
	if w.look(20*gb, p.check); p.ctx.Err() != nil {
		t.Error("the folder was measured when room came")
	}
	if w.look(20*gb-maxUnseen-1, p.check); p.ctx.Err() == nil || !strings.Contains(context.Cause(p.ctx).Error(), "more than 256 MB") {
		t.Errorf("%v", context.Cause(p.ctx))
	}
	q := newProcess(skill, s.book, "", &sandbox.Command{}, func(*process, string) {})
	defer q.discard()
	q.dir = t.TempDir()
	if w.look(leastRoom-1, q.check); !errors.Is(context.Cause(q.ctx), errNoRoom) {
		t.Errorf("%v", context.Cause(q.ctx))
	}
}

// A call has the connections that are new or in use since it began, and one that waits for
// the start of its server those of the start.
func TestConnectedSince(t *testing.T) {
	all := []sandbox.Connection{{Host: "a", Sent: 1, Got: 2}, {Host: "b", Sent: 5, Got: 5}}
	ready := make(chan struct{})
	var c connections
	c.receive(func() []sandbox.Connection { return all })
	start := c.now(ready)
	close(ready)
	if got := c.since(start); !slices.Equal(got, all) {
		t.Errorf("the start has %v", got)
	}
	before := c.now(ready)
	all = []sandbox.Connection{all[0], {Host: "b", Sent: 5, Got: 9}, {Host: "c", Refused: "no"}}
	if got := c.since(before); !slices.Equal(got, []sandbox.Connection{{Host: "b", Got: 4}, {Host: "c", Refused: "no"}}) {
		t.Errorf("the call has %v", got)
	}
	if got := c.since(c.now(ready)); got != nil {
		t.Errorf("a call without a connection has %v", got)
	}
}
