package clients

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// has fails the test unless an answer has all of some texts.
func has(t *testing.T, answer string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(answer, text) {
			t.Errorf("%.2000s\nhas no %s", answer, text)
		}
	}
}

// awaitText waits until an answer has a text.
func awaitText(t *testing.T, text string, ask func() string) {
	t.Helper()
	lab.Awaits(t, regexp.QuoteMeta(text), ask)
}

// The prompts and resources of plugins' servers are prompts and resources here, with the
// servers' own names and URIs, which may be equal.
func TestPluginServerPrompts(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		serverPlugins(t, a)
		a.Configure(allowed(a, ""))
		c := a.Serve("legacy", `{}`)
		if list := c.Listed("prompts/list"); strings.Contains(list, "__") {
			t.Errorf("prompts before a server has started: %s", list)
		}
		for _, server := range []string{"alpha__one", "beta__one", "beta__two"} {
			c.Succeeds(c.Call(server, none), "has started")
			awaitTool(t, c, server+"__echo")
		}
		list := c.Listed("prompts/list")
		has(t, list, `"name":"alpha__one__greet"`, `"name":"beta__two__greet"`, `"name":"alpha__one__echo__prompt"`, `{"name":"who","description":"Whom","required":true}`)
		if strings.Contains(list, "resources") {
			t.Errorf("what reads resources is a prompt: %s", list)
		}
		for server, own := range map[string]string{"alpha__one": "one", "beta__two": "two"} {
			got := c.Raw("prompts/get", fmt.Sprintf(`{"name":"%s__greet","arguments":{"who":"Ada","how":""}}`, server))
			path := strings.ReplaceAll(server, "__", "/")
			has(t, got, `"description":"From `+own+`"`, `"text":"Greet Ada None"`, `{"role":"assistant","content":{"type":"text","text":"I am `+own+`"}}`, `"uri":"plugin://`+path+`/notes://today"`)
			if strings.Contains(got, "beside") || strings.Count(got, `"role"`) != 3 {
				t.Errorf("other messages: %s", got)
			}
			has(t, c.Raw("prompts/get", fmt.Sprintf(`{"name":"%s__echo__prompt"}`, server)), "The prompt of "+own)
			has(t, c.Raw("prompts/get", fmt.Sprintf(`{"name":"%s__greet","arguments":{}}`, server)), `"error"`, "who")

			has(t, c.Listed("resources/list"), `"uri":"plugin://`+path+`/notes://today"`)
			has(t, c.Listed("resources/templates/list"), `"uriTemplate":"plugin://`+path+`/notes://day/{day}"`)
			uri := func(own string) string { return fmt.Sprintf(`{"uri":"plugin://%s/%s"}`, path, own) }
			got = c.Raw("resources/read", uri("notes://today"))
			has(t, got, `"text":"`+own, `"mimeType":"text/markdown"`, `"uri":"plugin://`+path+`/notes://today#2"`, `"second"`, strings.Repeat("x", 100_000))
			if strings.Contains(got, "beside") || strings.Count(got, `"uri"`) != 2 {
				t.Errorf("other contents: %s", got)
			}
			has(t, c.Raw("resources/read", uri("notes://picture")), `"blob":"iVBOR`)
			has(t, c.Raw("resources/read", uri("notes://none")), `"contents":[]`)
			has(t, c.Raw("resources/read", uri("notes://day/8")), `"text":"notes://day/8"`)
			has(t, c.Raw("resources/read", uri("notes://missing")), `"error"`, "there is no such thing")
			if tool := "alpha__one"; server == tool {
				has(t, c.Raw("tools/call", `{"name":"alpha__one__image","arguments":{}}`), `"type":"image"`, `"uri":"plugin://alpha/one/notes://day/7"`)
				has(t, c.Raw("resources/read", uri("notes://day/7")), `"text":"notes://day/7"`)
			}
		}
		has(t, c.Raw("resources/read", `{"uri":"plugin://alpha/two/notes://today"}`), "is not there")
		if got := listed(c, "resources"); len(got) > 0 {
			t.Errorf("models have the tool %s", got)
		}
		c.Succeeds(c.Call("alpha__one__another", none), "added")
		awaitText(t, "alpha__one__new", func() string { return c.Listed("prompts/list") })
		has(t, c.Listed("resources/list"), "plugin://alpha/one/notes://new")
		has(t, c.Received.String(), "notifications/prompts/list_changed", "notifications/resources/list_changed")
		if out, code := a.Run("run", "beta/two__resources", "--uri", "notes://day/3"); code != 0 || !strings.Contains(out, "notes://day/3") {
			t.Errorf("exit %d: %s", code, out)
		}
		modern := a.Serve("modern", `{}`)
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		has(t, modern.Raw("prompts/get", `{"name":"alpha__one__greet","arguments":{"who":"Eve"},`+meta+`}`), "Greet Eve", `"role":"assistant"`)
		has(t, modern.Raw("resources/read", `{"uri":"plugin://alpha/one/notes://day/1",`+meta+`}`), `"notes://day/1"`)
	})
}

// A prompt and a resource are asked about as a tool is, recorded as its calls are, and gone
// where the server is disabled.
func TestPluginServerPromptConsent(t *testing.T) {
	t.Parallel()
	a := lab.NewAccount(t, "native", "")
	serverPlugins(t, a)
	folder := fmt.Sprintf("plugins: [%q]\nexpose: {mode: search}\n", filepath.Join(a.Home, "plugins"))
	a.Configure(folder)
	c := a.Serve("legacy", `{}`)
	run := map[string]any{"name": "alpha/one"}
	a.Approve(c.Waits(c.Call("run_skill", run)))
	c.Succeeds(c.Call("run_skill", run), "has started")
	awaitText(t, "alpha__one__greet", func() string { return c.Listed("prompts/list") })
	for _, request := range []struct{ method, params, want string }{
		{"prompts/get", `{"name":"alpha__one__greet","arguments":{"who":"Ada"}}`, "Greet Ada"},
		{"resources/read", `{"uri":"plugin://alpha/one/notes://day/1"}`, `"text":"notes://day/1"`},
	} {
		refused := c.Raw(request.method, request.params)
		id := lab.ApprovalID.FindStringSubmatch(refused)
		if id == nil || !strings.Contains(refused, `"error"`) {
			t.Fatalf("%s asks for no approval: %s", request.method, refused)
		}
		a.Approve(id[1])
		has(t, c.Raw(request.method, request.params), request.want)
	}
	for name, given := range map[string]map[string]any{"alpha/one__greet": {"who": "Ada"}, "alpha/one__resources": {"uri": "notes://day/1"}} {
		c.Fails(c.Call("run_skill", map[string]any{"name": name, "params": given}), "PERMISSION_DENIED")
	}
	asking := a.Serve("legacy", `{"elicitation":{}}`)
	asking.Send(`{"jsonrpc":"2.0","id":"r","method":"resources/read","params":{"uri":"plugin://alpha/one/notes://day/2"}}`)
	for m := asking.Receive(); m.Method != "elicitation/create"; m = asking.Receive() {
		if string(m.ID) == `"r"` {
			t.Fatal("a resource was read without a question")
		}
	}
	out, _ := a.Run("runs", "--json")
	has(t, out, "alpha/one__greet", "alpha/one__resources", `"prompt"`, `"resource"`)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	a.Configure(folder + "policy: {skills: {alpha/one: {enabled: false}}}\n")
	c = a.Serve("legacy", `{}`)
	if all := c.Listed("prompts/list") + c.Listed("resources/list") + c.Listed("resources/templates/list"); strings.Contains(all, "alpha") {
		t.Errorf("a disabled server has prompts or resources: %s", all)
	}
	has(t, c.Raw("resources/read", `{"uri":"plugin://alpha/one/notes://today"}`), "is not there")
}

// A client is told of changes of the resources that it has read and subscribed to, and of no
// others.
func TestPluginServerUpdates(t *testing.T) {
	t.Parallel()
	a := lab.NewAccount(t, "native", "")
	serverPlugins(t, a)
	a.Configure(allowed(a, ""))
	c := a.Serve("legacy", `{}`)
	for _, server := range []string{"alpha__one", "beta__one"} {
		c.Succeeds(c.Call(server, none), "has started")
		awaitTool(t, c, server+"__touch")
	}
	told := func(plugin string) string {
		return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"plugin://` + plugin + `/one/notes://today"}}`
	}
	read := func(plugin, own string) {
		has(t, c.Raw("resources/read", `{"uri":"plugin://`+plugin+`/one/`+own+`"}`), `"contents"`)
	}
	has(t, c.Raw("resources/subscribe", `{"uri":"plugin://alpha/one/notes://today"}`), `"result":{}`)
	for range 2 { // the second has nothing to follow anew
		read("alpha", "notes://today")
	}
	read("alpha", "notes://day/1")
	read("beta", "notes://today")
	awaitText(t, "touched 2", func() string { return c.Call("alpha__one__touch", none).Text() })
	awaitText(t, "touched 1", func() string { return c.Call("beta__one__touch", none).Text() })
	awaitText(t, told("alpha"), func() string { c.Listed("ping"); return c.Received.String() })
	if got := c.Received.String(); strings.Contains(got, told("beta")) || strings.Contains(got, `updated","params":{"uri":"plugin://alpha/one/notes://day`) {
		t.Error("the client is told of a resource that it has not subscribed to")
	}
}
