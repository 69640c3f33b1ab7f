package lab

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// Client is an MCP client of one server process.
type Client struct {
	*mcpclient.Client
	t       *testing.T
	Changes chan struct{} // one value for each tools/list_changed
}

// Connect starts the built binary as a client does, and initializes it.
func Connect(t *testing.T, driver string, args ...string) *Client {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(config, []byte(Configuration()), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "DOCKER_HOST=" + os.Getenv("DOCKER_HOST")}
	cmd := exec.Command(Binary, append([]string{"serve", "--config", config, "--sandbox", driver}, args...)...)
	cmd.Env, cmd.Dir = append(env, "PATH="+os.Getenv("PATH")), home
	c := &Client{t: t, Changes: make(chan struct{}, 100)}
	client, answer := Initialize(t, cmd, func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/tools/list_changed" {
			c.Changes <- struct{}{}
		}
	})
	c.Client = client
	if answer.ServerInfo.Name != "skills-mcp" || answer.Capabilities.Tools == nil || !answer.Capabilities.Tools.ListChanged {
		t.Errorf("initialize: %+v", answer)
	}
	return c
}

// Initialize starts cmd, a server on standard input and output, and returns an initialized
// client of it, whose notifications go to notified, and the server's answer. The server has
// to end well, with the test. mcp-go would kill a process of its own after 5 s.
func Initialize(t *testing.T, cmd *exec.Cmd, notified func(mcp.JSONRPCNotification)) (*mcpclient.Client, *mcp.InitializeResult) {
	t.Helper()
	in, out := connect(t, cmd)
	c := mcpclient.NewClient(transport.NewIO(out, in, nil))
	c.OnNotification(notified) // before the start: nothing may be missed
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = "2025-11-25"
	request.Params.ClientInfo = mcp.Implementation{Name: "integration", Version: "1"}
	answer, err := c.Initialize(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return c, answer
}

// Tools returns the names of the tools.
func (c *Client) Tools() map[string]mcp.Tool {
	c.t.Helper()
	list, err := c.ListTools(c.t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	found := map[string]mcp.Tool{}
	for _, tool := range list.Tools {
		found[tool.Name] = tool
	}
	return found
}

// Call calls a tool and returns its texts.
func (c *Client) Call(name string, args map[string]any) (text string, result *mcp.CallToolResult) {
	c.t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = name, args
	result, err := c.CallTool(c.t.Context(), request)
	if err != nil {
		c.t.Fatal(err)
	}
	var texts []string
	for _, content := range result.Content {
		texts = append(texts, mcp.GetTextFromContent(content))
	}
	return strings.Join(texts, "\n"), result
}

func WriteFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
