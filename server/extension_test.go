package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// method calls one of the server's own methods, as a transport does, and returns
// the result, or the error, as JSON.
func (b *bench) method(name, params string) string {
	b.t.Helper()
	result, err := b.extension.methods()[name].Handle(b.t.Context(), json.RawMessage(params))
	if refused := (*rpc.Error)(nil); errors.As(err, &refused) {
		data, _ := json.Marshal(refused.Data)
		return fmt.Sprintf("error %d %s %s", refused.Code, refused.Message, data)
	} else if err != nil {
		return "error " + err.Error()
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(encoded)
}

// shelves add skills of the kinds that the extension treats differently.
func (b *bench) shelves() {
	b.files["p/skills/guide/docs/one two.md"] = &fstest.MapFile{Data: []byte("# One\n")}
	b.files["p/skills/guide/logo.png"] = &fstest.MapFile{Data: picture(b.t)}
	b.files["p/skills/guide/docs/raw"] = &fstest.MapFile{Data: []byte("a\xff\x00b")}
	b.files["p/skills/under/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: un_der\ndescription: Not of the standard.\n---\n")}
	b.files["p/commands/do.md"] = &fstest.MapFile{Data: []byte("Do it.\n")}
	b.publish()
}

func TestSkillsExtension(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	b.shelves()
	var all strings.Builder
	show := func(method, params, answer string) {
		if strings.HasPrefix(answer, "{") {
			answer = strings.TrimSuffix(indent(t, answer), "\n")
		}
		fmt.Fprintf(&all, "== %s %s\n%s\n", method, params, answer)
	}
	for _, call := range []struct{ method, params string }{
		{"skills/list", ``},
		{"skills/list", `{"cursor": "no cursor"}`},
		{"skills/list", `{"cursor": 1}`},
		{"skills/list", `[]`},
		{"skills/get", `{"uri": "skill://demo/guide/SKILL.md"}`},
		{"skills/get", `{"uri": "skill://demo/private/SKILL.md"}`},
		{"skills/get", `{"uri": "skill://demo/un_der/SKILL.md"}`},
		{"skills/get", `{"uri": "skill://demo/do/SKILL.md"}`},
		{"skills/get", `{"uri": "skill://nobody/SKILL.md"}`},
		{"skills/get", `{}`},
		{"resources/directory/read", `{"uri": "skill://demo/guide"}`},
		{"resources/directory/read", `{"uri": "skill://demo/guide/docs"}`},
		{"resources/directory/read", `{"uri": "skill://demo/guide/SKILL.md"}`},
		{"resources/directory/read", `{"uri": "skill://demo/guide/none"}`},
	} {
		show(call.method, call.params, b.method(call.method, call.params))
	}
	for _, call := range []struct{ method, params string }{
		{"resources/list", `{}`},
		{"resources/templates/list", `{}`},
		{"resources/read", `{"uri": "skill://demo/guide/SKILL.md"}`},
		{"resources/read", `{"uri": "skill://demo/private/SKILL.md"}`},
		{"resources/read", `{"uri": "skill://demo/guide/docs/one%20two.md"}`},
		{"resources/read", `{"uri": "skill://demo/guide/docs/raw"}`},
		{"resources/read", `{"uri": "skill://demo/guide/docs"}`},
		{"resources/read", `{"uri": "skill://demo/guide/../run/run.sh"}`},
		{"resources/read", `{"uri": "skill://demo/do/SKILL.md"}`},
		{"resources/read", `{"uri": "other://demo"}`},
	} {
		show(call.method, call.params, b.ask(call.method, call.params))
	}
	golden(t, "extension.txt", all.String())
}

// TestWhatMayBeKept finds a cache lifetime in every result of the Skills extension
// of 2026-07-28: clients refuse one without. A task has a lifetime of its own.
func TestWhatMayBeKept(t *testing.T) {
	methods := newBench(t, ends(0, "", "")).extension.methods()
	for name, method := range methods {
		if want := !strings.HasPrefix(name, "tasks/"); method.Cacheable != want {
			t.Errorf("%s: %t, want %t", name, method.Cacheable, want)
		}
	}
	if methods["resources/directory/read"].Handle == nil {
		t.Error("directories cannot be read")
	}
}

// Each file that is listed is served byte for byte.
func TestDigestsAreOfWhatIsServed(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	b.shelves()
	var list struct {
		Skills []struct {
			URI       string
			Resources []struct {
				URI  string
				Size int
			}
		}
	}
	if err := json.Unmarshal([]byte(b.method("skills/list", `{}`)), &list); err != nil || len(list.Skills) < 2 {
		t.Fatal(list, err)
	}
	for _, skill := range list.Skills {
		for _, r := range skill.Resources {
			var read struct{ Contents []content }
			if err := json.Unmarshal([]byte(b.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, r.URI))), &read); err != nil || len(read.Contents) != 1 {
				t.Fatal(r.URI, read, err)
			}
			data := []byte(read.Contents[0].Text)
			if blob := read.Contents[0].Blob; blob != "" {
				data, _ = base64.StdEncoding.DecodeString(blob)
			}
			plugin, name, _ := strings.Cut(strings.TrimPrefix(r.URI, "skill://"), "/")
			file := b.files["p/skills/"+strings.ReplaceAll(name, "%20", " ")]
			if plugin != "demo" || string(data) != string(file.Data) || len(data) != r.Size {
				t.Errorf("%s: %d bytes, listed with %d", r.URI, len(data), r.Size)
			}
		}
	}
}

func TestResourcePages(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	var want, got []string
	for i := range 230 {
		name := fmt.Sprintf("s%03d", i)
		b.files["p/skills/"+name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: x\n---\n")}
		want = append(want, name)
	}
	b.publish()
	for cursor, first := "", true; first || cursor != ""; first = false {
		var page struct {
			Resources  []struct{ Name string }
			NextCursor string
		}
		if err := json.Unmarshal([]byte(b.ask("resources/list", fmt.Sprintf(`{"cursor":%q}`, cursor))), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Resources) > 100 {
			t.Errorf("a page of %d", len(page.Resources))
		}
		for _, r := range page.Resources {
			if strings.HasPrefix(r.Name, "s") {
				got = append(got, r.Name)
			}
		}
		cursor = page.NextCursor
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if answer := b.ask("resources/list", `{"cursor":"no cursor"}`); !strings.Contains(answer, "-32602") {
		t.Error(answer)
	}
}

// subscriber is a client that can subscribe to resources.
type subscriber struct {
	*client
	mu   sync.Mutex
	uris []string
}

func (s *subscriber) SubscribeToResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uris = append(s.uris, uri)
}

func (s *subscriber) UnsubscribeFromResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uris = slices.DeleteFunc(s.uris, func(u string) bool { return u == uri })
}

func (s *subscriber) SubscribedResources() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.uris)
}

func (s *subscriber) IsSubscribedToResource(uri string) bool {
	return slices.Contains(s.SubscribedResources(), uri)
}

// do has the subscriber make a request.
func (s *subscriber) do(b *bench, method, uri string) {
	b.t.Helper()
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"uri":%q}}`, method, uri)
	answer, err := json.Marshal(b.core.HandleMessage(b.core.WithContext(b.t.Context(), s), json.RawMessage(message)))
	if err != nil || !strings.Contains(string(answer), `"result":{}`) {
		b.t.Fatalf("%s: %s, %v", method, answer, err)
	}
}

// updates takes the notifications that have come.
func (s *subscriber) updates() (got []string) {
	for {
		select {
		case n := <-s.in:
			uri, _ := n.Params.AdditionalFields["uri"].(string)
			got = append(got, strings.TrimSpace(strings.TrimPrefix(n.Method, "notifications/")+" "+uri))
		default:
			return got
		}
	}
}

func TestSubscriptions(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	b.shelves()
	s := &subscriber{client: &client{id: "subscriber", in: make(chan mcp.JSONRPCNotification, 100)}}
	if err := b.core.RegisterSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	other := b.connect()
	write := func(name, text string) func() {
		return func() { b.files["p/skills/"+name] = &fstest.MapFile{Data: []byte(text)} }
	}
	guide, doc := "skill://demo/guide/SKILL.md", "skill://demo/guide/docs/one%20two.md"
	s.do(b, "resources/subscribe", guide)
	s.do(b, "resources/subscribe", doc)
	s.do(b, "resources/subscribe", "skill://demo/new/SKILL.md")
	s.do(b, "resources/subscribe", "other://uri")
	for _, step := range []struct {
		what   string
		change func()
		want   []string
	}{
		{"nothing", func() {}, nil},
		{"a file", write("guide/docs/one two.md", "# Two\n"), []string{"resources/updated " + doc}},
		{"another skill", write("run/run.sh", "echo 1"), nil},
		{"a file that nobody subscribed to", write("guide/logo.png", "x"), nil},
		{"the description", write("guide/SKILL.md", "---\nname: guide\ndescription: Other.\n---\n"),
			[]string{"prompts/list_changed", "resources/list_changed", "resources/updated " + guide, "tools/list_changed"}},
		{"a file comes", write("new/SKILL.md", "---\nname: new\ndescription: x\n---\n"),
			[]string{"prompts/list_changed", "resources/list_changed", "resources/updated skill://demo/new/SKILL.md", "tools/list_changed"}},
		{"a file goes", func() { delete(b.files, "p/skills/guide/docs/one two.md") }, []string{"resources/updated " + doc}},
		{"a subscription ends", func() {
			s.do(b, "resources/unsubscribe", guide)
			write("guide/SKILL.md", "---\nname: guide\ndescription: Other.\n---\nText.\n")()
		}, nil},
	} {
		step.change()
		b.publish()
		if diff := cmp.Diff(step.want, s.updates()); diff != "" {
			t.Errorf("%s changed: %s", step.what, diff)
		}
	}
	if slices.Contains(other.notices(), "notifications/resources/updated") {
		t.Error("somebody who did not subscribe was told")
	}
	b.core.UnregisterSession(context.Background(), s.SessionID())
	b.publish()
	if n := len(b.published.subscriptions.digests); n != 0 {
		t.Errorf("%d digests are kept for nobody", n)
	}
}
