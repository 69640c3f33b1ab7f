package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

var _ agents.Tools = (*Local)(nil)

// local returns the principal of a session of an agent.
func local(session string, names ...string) identity.Principal {
	return identity.Principal{Kind: identity.Model, Session: session, Agents: names}
}

func (b *bench) subagent(who identity.Principal) *Local {
	b.t.Helper()
	l, err := b.Connect(b.t.Context(), who, nil, func() {})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(l.Close)
	return l
}

// A subagent has the tools of a client, and its calls go the same way: with what they return
// in words, and errors that say what to do.
func TestLocal(t *testing.T) {
	var tenants []sandbox.Tenant
	b := newBenchWith(t, &script{func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		tenants = append(tenants, cmd.Tenant)
		return ends(0, "done", "").Run(ctx, cmd)
	}}, allTools)
	first, second := b.subagent(local("0123456789ab", "writer")), b.subagent(local("ba9876543210", "writer", "critic"))
	listed, err := first.List(t.Context())
	var names []string
	for _, tool := range listed {
		names = append(names, tool.Name)
		if !json.Valid(tool.Schema) || tool.Description == "" {
			t.Errorf("%+v", tool)
		}
	}
	if all := strings.Join(names, " "); err != nil || !strings.Contains(all, "demo__run") || !strings.Contains(all, "load_skill") || strings.Contains(all, "~") {
		t.Errorf("the tools are %s, %v", all, err)
	}
	for _, test := range []struct {
		tool, args, want string
		failed           bool
	}{
		{"demo__run", `{"target": "x"}`, "done", false},
		{"run_skill", `{"name": "guide"}`, "INVALID_PARAM", true},
		{"load_skill", `{"name": "guide"}`, "First", false},
		{"demo__run", `{}`, "INVALID_PARAM", true},
		{"demo__run", `[1]`, "", true},
		{"demo__run", `{`, "the arguments are no JSON object", true},
		{"demo__write", `{}`, "APPROVAL_REQUIRED", true}, // it can ask nobody
		{"gone", `{}`, "tool 'gone' not found", true},
		{"~", `{}`, "not found", true},
	} {
		if text, failed := first.Call(t.Context(), test.tool, json.RawMessage(test.args)); failed != test.failed || !strings.Contains(text, test.want) {
			t.Errorf("%s %s: %t %s", test.tool, test.args, failed, text)
		}
	}
	second.Call(t.Context(), "demo__run", json.RawMessage(`{"target": "x"}`))
	if len(tenants) != 2 || tenants[0].ID == tenants[1].ID || tenants[0].Principal != tenants[1].Principal {
		t.Errorf("the calls are of %+v", tenants)
	}
	if _, err := b.Connect(t.Context(), local("0123456789ab"), nil, func() {}); err == nil {
		t.Error("a session has two clients")
	}
	reader := b.subagent(identity.Principal{Kind: identity.Token, ID: "r", Session: "111111111111", Agents: []string{"writer"}, Scopes: []identity.Scope{identity.ScopeRead}})
	if text, failed := reader.Call(t.Context(), "demo__run", json.RawMessage(`{"target": "x"}`)); !failed || !strings.Contains(text, "skills:run") {
		t.Errorf("a token that may only read calls: %s", text)
	}
}

// The calls of a subagent have the workspaces that the client at the top of its tree chose, and
// it passes them on.
func TestLocalWorkspaces(t *testing.T) {
	b := newBenchWith(t, &seer{}, Options{Roots: func(folders []string) []string { return folders }})
	for session, workspaces := range map[string][]string{"0123456789ab": {"/srv/a"}, "ba9876543210": {"/srv/a", "/srv/b"}, "111111111111": nil} {
		l, err := b.Connect(t.Context(), local(session, "writer"), workspaces, func() {})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if text, failed := l.Call(t.Context(), "demo__run", json.RawMessage(`{"target": "x"}`)); failed || !strings.Contains(text, fmt.Sprint(workspaces, " first")) {
			t.Errorf("with %q it sees %s", workspaces, text)
		}
		if got := b.invoke.chosen(l.context(t.Context())); !slices.Equal(got, workspaces) {
			t.Errorf("it passes on %q, not %q", got, workspaces)
		}
	}
}

// What a subagent has opened ends with its session, and with no other.
func TestLocalLeave(t *testing.T) {
	b := newBenchWith(t, &keeper{}, allTools)
	first, second := b.subagent(local("0123456789ab", "writer")), b.subagent(local("ba9876543210", "writer"))
	open := func(l *Local) (run string) {
		t.Helper()
		text, failed := l.Call(t.Context(), "open_sandbox", nil)
		var opened struct {
			ID string `json:"container_id"`
		}
		if err := json.Unmarshal([]byte(text), &opened); failed || err != nil {
			t.Fatal(text)
		}
		return `{"language": "bash", "code": "true", "container_id": "` + opened.ID + `"}`
	}
	mine, other := open(first), open(second)
	if text, failed := second.Call(t.Context(), "run_code", json.RawMessage(mine)); !failed || !strings.Contains(text, "NOT_FOUND") {
		t.Errorf("in the sandbox of another: %s", text)
	}
	first.Close()
	again := b.subagent(local("0123456789ab", "writer"))
	if text, failed := again.Call(t.Context(), "run_code", json.RawMessage(mine)); !failed || !strings.Contains(text, "NOT_FOUND") {
		t.Errorf("after the session: %s", text)
	}
	if text, failed := second.Call(t.Context(), "run_code", json.RawMessage(other)); failed {
		t.Errorf("of the other session: %s", text)
	}
}

// Results are text for a model, in which everything else is named.
func TestInWords(t *testing.T) {
	got := inWords(&mcp.CallToolResult{Content: []mcp.Content{
		mcp.NewTextContent("one"), mcp.NewImageContent("AAAA", "image/png"), mcp.NewAudioContent("AAAAAAAA", "audio/wav"),
		mcp.NewResourceLink("skills-output://a", "a.csv", "", "text/csv"),
		mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "file:///b", Text: "two"}), mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: "file:///c", MIMEType: "application/pdf", Blob: "AAAA"}),
	}, StructuredContent: map[string]any{"a": 1}})
	want := "one\n[image: image/png, 3 bytes]\n[sound: audio/wav, 6 bytes]\n[file a.csv: text/csv, skills-output://a]\n[file file:///b]\ntwo\n[file file:///c: application/pdf, 3 bytes]"
	if got != want {
		t.Errorf("%s", got)
	}
	if got := inWords(&mcp.CallToolResult{StructuredContent: map[string]any{"a": 1}}); got != `{"a":1}` {
		t.Errorf("%s", got)
	}
}

// The prompt of a subagent has the skills that fit, those that its agent names first, and none
// that Conduit routes to another agent.
func TestLocalSkills(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{})
	b.skillFiles(orchard())
	b.skillFiles(map[string]string{
		"espalier-trees": "description: Train apple trees on a wall, as an espalier.\nmetadata: {conduit: {agent: gardener}}\n---\nTie the espalier in spring.\n",
	})
	b.files["p/skills/private/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: private\ndescription: For persons.\ndisable-model-invocation: true\n---\nSecret of persons.\n")}
	b.publish()
	for name, test := range map[string]struct {
		agent, message string
		named          []string
		most           int
		has, lacks     []string
	}{
		"matched":   {"writer", "graft apple trees", nil, 1, []string{"cambium"}, []string{"water shoots"}},
		"named":     {"writer", "graft apple trees", []string{"press-apples", "gone", "private"}, 2, []string{"Wash, mill, press", "cambium"}, []string{"Secret of persons", "water shoots"}},
		"none":      {"writer", "graft apple trees", nil, 0, nil, []string{"cambium"}},
		"routed":    {"team/gardener", "train an espalier on the wall", nil, 2, []string{"Tie the espalier", "espalier-trees"}, nil},
		"elsewhere": {"writer", "train an espalier on the wall", []string{"espalier-trees"}, 2, nil, []string{"Tie the espalier", "espalier-trees"}},
	} {
		l := b.subagent(local("0123456789a"+name[:1], "top", test.agent))
		line, bodies, err := l.Skills(t.Context(), test.message, test.named, test.most)
		text := line + "\n" + strings.Join(bodies, "\n")
		if err != nil || !strings.HasPrefix(line, "Skills, whose instructions load_skill returns: demo/") || strings.Contains(line, "\n") {
			t.Errorf("%s: %v %s", name, err, line)
		}
		for _, want := range test.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it lacks %q: %s", name, want, text)
			}
		}
		for _, wrong := range test.lacks {
			if strings.Contains(text, wrong) {
				t.Errorf("%s: it has %q: %s", name, wrong, text)
			}
		}
		l.Close()
	}
	for task, want := range map[string]string{"train an espalier on the wall": "gardener", "graft apple trees": "", "zzyzx qqq": ""} {
		if got := b.AgentFor(t.Context(), identity.Principal{}, task); got != want {
			t.Errorf("%q is for %q", task, got)
		}
	}
}

// BenchmarkLocal measures a session of a subagent to its list of tools and its prompt, among
// 10,000 skills.
func BenchmarkLocal(b *testing.B) {
	s := emptyServer(b)
	s.Publish(manySkills(b))
	s.AgentFor(b.Context(), identity.Principal{}, "index them")
	for b.Loop() {
		l, err := s.Connect(b.Context(), local("0123456789ab", "writer"), nil, func() {})
		if err != nil {
			b.Fatal(err)
		}
		if tools, err := l.List(b.Context()); err != nil || len(tools) == 0 {
			b.Fatal(err)
		}
		if _, _, err := l.Skills(b.Context(), "do the thing number 77", nil, 2); err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}
