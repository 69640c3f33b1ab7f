package clientroots

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client speaks to a server on standard input and output whose tool says the
// workspaces.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Reader
}

// dial starts a server whose workspaces are all roots but those that are called
// "no".
func dial(t *testing.T) *client {
	t.Helper()
	cache := New(func(folders []string) (workspaces []string) {
		for _, folder := range folders {
			if !strings.HasSuffix(folder, "no") {
				workspaces = append(workspaces, folder)
			}
		}
		return workspaces
	}, slog.New(slog.DiscardHandler))
	hooks := &mcpserver.Hooks{}
	cache.Hook(hooks)
	core := mcpserver.NewMCPServer("test", "1", mcpserver.WithToolCapabilities(true), mcpserver.WithHooks(hooks))
	core.AddTool(mcp.NewTool("where"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Join(cache.Of(ctx), " ")), nil
	})
	core.AddNotificationHandler(mcp.MethodNotificationRootsListChanged, cache.Changed)
	r, in := io.Pipe()
	out, w := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- transport.ServeStdio(context.WithoutCancel(t.Context()), transport.Backend{Core: core}, r, w, nil)
	}()
	t.Cleanup(func() {
		in.Close()
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if len(cache.entries) > 0 {
			t.Errorf("%d sessions are remembered that are gone", len(cache.entries))
		}
	})
	return &client{t, in, bufio.NewReader(out)}
}

// greet initializes with capabilities.
func (c *client) greet(capabilities string) *client {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`)
	c.receive()
	return c
}

const able = `{"roots":{"listChanged":true}}`

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) where(id int, more string) {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"where","arguments":{}%s}}`, id, more))
}

// receive returns what a message is: the method, or the text of a result.
func (c *client) receive() (is string, id json.RawMessage) {
	c.t.Helper()
	line, err := c.lines.ReadBytes('\n')
	var m struct {
		ID     json.RawMessage
		Method string
		Result struct{ Content []struct{ Text string } }
	}
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	switch {
	case err != nil:
		c.t.Fatalf("%v in %q", err, line)
	case m.Method != "":
		return m.Method, m.ID
	case len(m.Result.Content) == 1:
		return string(m.ID) + ": " + m.Result.Content[0].Text, m.ID
	}
	return "", m.ID
}

func (c *client) want(is string) (id json.RawMessage) {
	c.t.Helper()
	got, id := c.receive()
	if got != is {
		c.t.Fatalf("got %q, want %q", got, is)
	}
	return id
}

// tell answers what the server asks next; answer is a result or an error.
func (c *client) tell(answer string) {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, c.want("roots/list"), answer))
}

const shop = `"result":{"roots":[{"uri":"file:///srv/shop"},{"uri":"file:///srv/no"},{"uri":"https://a/b"}]}`

// A client is asked once, by its first call, and again when its roots change.
func TestOf(t *testing.T) {
	c := dial(t).greet(able)
	c.where(1, "")
	c.tell(shop)
	c.want("1: /srv/shop")
	c.where(2, "")
	c.want("2: /srv/shop")
	c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	c.where(3, "")
	c.tell(`"result":{"roots":[{"uri":"file:///srv/a"},{"uri":"file:///srv/b"}]}`)
	c.want("3: /srv/a /srv/b")
}

// What cannot be used leaves the server's own workspaces, and is not asked for
// again.
func TestOfNothing(t *testing.T) {
	for name, answer := range map[string]string{
		"an error":      `"error":{"code":-32603,"message":"no"}`,
		"no roots":      `"result":{"roots":[]}`,
		"no list":       `"result":{"roots":7}`,
		"nothing to it": `"result":{"roots":[{"uri":"file:///srv/no"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t).greet(able)
			c.where(1, "")
			c.tell(answer)
			c.want("1: ")
			c.where(2, "")
			c.want("2: ")
		})
	}
}

// Clients that cannot be asked are not: those that do not declare roots, and
// modern ones whatever they declare.
func TestOfUnasked(t *testing.T) {
	c := dial(t).greet(`{"elicitation":{}}`)
	c.where(1, "")
	c.want("1: ")
	c.where(2, `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":`+able+`}`)
	c.want("2: ")
	if got := New(nil, nil).Of(t.Context()); got != nil {
		t.Errorf("nobody chooses, and there are %q", got)
	}
}

// Calls wait for one answer together. One that is cancelled leaves the asking to
// the next.
func TestOfTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t).greet(able)
		c.where(1, "")
		first := c.want("roots/list")
		c.where(2, "")
		synctest.Wait() // the second waits for the first's answer
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		again := c.want("roots/list")
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, first)) // too late
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, again, shop))
		c.want("2: /srv/shop")
	})
}

// A client that does not answer holds up its first call alone.
func TestOfInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t).greet(able)
		c.where(1, "")
		c.want("roots/list")
		c.want("notifications/cancelled")
		c.want("1: ")
		c.where(2, "")
		c.want("2: ")
	})
}

func TestFolderOf(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///srv/shop":             "/srv/shop",
		"file:///srv/my%20shop/":       "/srv/my shop",
		"file://localhost/srv/shop":    "/srv/shop",
		"FILE:/srv/shop":               "/srv/shop",
		"file:///srv/../etc":           "/etc",
		"file:///":                     "/",
		"file://other/srv/shop":        "",
		"file:////other/share":         "",
		"file:///%2Fother/share":       "",
		"file://ann@localhost/srv":     "",
		"file:srv/shop":                "",
		"file:":                        "",
		"file:///srv/shop?x":           "",
		"file:///srv/shop#x":           "",
		"file:///srv/%00":              "",
		"file:///srv/%zz":              "",
		"/srv/shop":                    "",
		"https://localhost/srv/shop":   "",
		"vscode-vfs://github/ann/shop": "",
	} {
		if runtime.GOOS == "windows" {
			uri, want = strings.Replace(uri, "/srv", "/C:/srv", 1), strings.Replace(want, "/srv", "C:/srv", 1)
		}
		if got, err := folderOf(uri); filepath.ToSlash(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", uri, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"roots":[{"uri":"file:///srv/shop","name":"shop"},{"uri":"https://a"},{}]}`))
	f.Add([]byte(`{"roots":null}`))
	f.Add([]byte(`{"roots":[` + strings.Repeat(`{"uri":"file:///a"},`, maxRoots+1) + `{"uri":"file://%"}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		folders, err := parse(answer)
		if len(folders) > maxRoots || err != nil && folders != nil {
			t.Fatalf("%q, %v", folders, err)
		}
		for _, folder := range folders {
			if !filepath.IsAbs(folder) || filepath.Clean(folder) != folder || strings.ContainsRune(folder, 0) {
				t.Errorf("%q", folder)
			}
		}
	})
}
