// Package connect adds this program to the configuration of MCP clients and removes
// it again, without any other change to their files: other servers, comments,
// indentation and line ends stay.
//
// Start with [Clients] or [Find], then [Client.Snippet], [Client.Add] and
// [Client.Remove].
package connect

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
)

// A Client is a program that starts MCP servers, with the files that configure it.
type Client struct {
	Name  string // as people write it on the command line
	Title string // as its makers write it

	// WorkspaceVariable is the variable that the client replaces with the
	// project's folder in the arguments of a project's servers; "" if it has none,
	// or starts servers in that folder.
	WorkspaceVariable string
	// Terminal says that servers are started in the folder that the person is
	// in, not in one of the client's own.
	Terminal bool

	format  format
	typed   bool // entries have a field "type"
	expands bool // "$" in arguments has a meaning
	http    remote
	user    func(Places) Target
	project string // of the file, in the project's folder; "" where there is none
}

// Places are the folders that the paths of the clients' files start from.
type Places struct {
	OS     string // as runtime.GOOS
	Home   string
	Config string // as os.UserConfigDir
	Local  string // LOCALAPPDATA on Windows; "" elsewhere

	ClaudeConfig string // CLAUDE_CONFIG_DIR; "" by default
	CodexHome    string // CODEX_HOME; "" by default
}

// A Target is a file to edit.
type Target struct {
	File string
	// Folder exists if the client is installed; "" if it need not exist.
	Folder string
	// Within is the project's folder, which must contain File with links followed:
	// a stranger may have made them. "" allows any.
	Within string
}

// Clients returns the supported clients. The paths and fields of their files are
// from the documentation of each.
func Clients() []Client {
	return []Client{
		// modelcontextprotocol.io/docs/develop/connect-local-servers
		{
			Name: "claude-desktop", Title: "Claude Desktop", format: jsonFormat{section: "mcpServers"},
			user: claudeDesktop,
		},
		// code.claude.com/docs/en/mcp; CLAUDE_CONFIG_DIR moves .claude.json too.
		{
			Name: "claude-code", Title: "Claude Code", format: jsonFormat{section: "mcpServers"}, typed: true, expands: true,
			Terminal: true, user: claudeCode, project: ".mcp.json", http: remote{key: "url", token: header("${%s}")},
		},
		// code.visualstudio.com/docs/agents/reference/mcp-configuration
		{
			Name: "vscode", Title: "VS Code", format: jsonFormat{section: "servers"}, typed: true, expands: true,
			http:    remote{key: "url", token: header("${env:%s}")},
			user:    func(p Places) Target { return in(filepath.Join(p.Config, "Code", "User"), "mcp.json") },
			project: ".vscode/mcp.json", WorkspaceVariable: "${workspaceFolder}",
		},
		// cursor.com/docs/mcp
		{
			Name: "cursor", Title: "Cursor", format: jsonFormat{section: "mcpServers"}, expands: true,
			http:    remote{key: "url", token: header("${env:%s}")},
			user:    func(p Places) Target { return in(filepath.Join(p.Home, ".cursor"), "mcp.json") },
			project: ".cursor/mcp.json", WorkspaceVariable: "${workspaceFolder}",
		},
		// developers.openai.com/codex/mcp; a project's file counts once the
		// project is trusted.
		{
			Name: "codex", Title: "Codex", format: tomlFormat{section: "mcp_servers"},
			Terminal: true, user: codex, project: ".codex/config.toml",
			http: remote{key: "url", token: func(variable string) field { return field{"bearer_token_env_var", variable} }, headers: "http_headers"},
		},
		// geminicli.com/docs/tools/mcp-server; "url" is an address of HTTP+SSE.
		{
			Name: "gemini", Title: "Gemini CLI", format: jsonFormat{section: "mcpServers"}, expands: true,
			Terminal: true, project: ".gemini/settings.json", http: remote{key: "httpUrl", token: header("${%s}")},
			user: func(p Places) Target { return in(filepath.Join(p.Home, ".gemini"), "settings.json") },
		},
		// docs.windsurf.com/windsurf/cascade/mcp; since June 2026 it is Devin
		// Desktop, which has a file of its own.
		{
			Name: "windsurf", Title: "Windsurf", format: jsonFormat{section: "mcpServers"}, expands: true,
			http: remote{key: "serverUrl", token: header("${env:%s}")},
			user: func(p Places) Target { return in(filepath.Join(p.Home, ".codeium", "windsurf"), "mcp_config.json") },
		},
		// docs.devin.ai/desktop/cascade/mcp
		{
			Name: "devin", Title: "Devin Desktop", format: jsonFormat{section: "mcpServers"}, expands: true,
			http: remote{key: "url", token: header("${env:%s}")},
			user: func(p Places) Target { return in(filepath.Join(dotConfig(p), "devin"), "mcp_config.json") }, project: ".devin/mcp_config.json",
		},
		// zed.dev/docs/ai/mcp and zed.dev/docs/configuring-zed; headers are sent as
		// they are written (zed-industries/zed#60459).
		{
			Name: "zed", Title: "Zed", format: jsonFormat{section: "context_servers"},
			user: zed, project: ".zed/settings.json", http: remote{key: "url"},
		},
	}
}

// Names returns the names of the clients.
func Names() []string {
	var names []string
	for _, client := range Clients() {
		names = append(names, client.Name)
	}
	return names
}

// Find returns the client of a name. The error lists the names.
func Find(name string) (Client, error) {
	clients := Clients()
	i := slices.IndexFunc(clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, fmt.Errorf("unknown client %q; write one of %s%s", name, strings.Join(Names(), ", "), plain.DidYouMean(name, Names()))
	}
	return clients[i], nil
}

// User returns the person's own file, for all projects.
func (c Client) User(p Places) Target { return c.user(p) }

// Project returns the file of the project in dir.
func (c Client) Project(dir string) (Target, error) {
	if c.project == "" {
		return Target{}, fmt.Errorf("%s has no file for a project; leave --project out", c.Title)
	}
	return Target{File: filepath.Join(dir, filepath.FromSlash(c.project)), Within: dir}, nil
}

func in(folder, name string) Target {
	return Target{File: filepath.Join(folder, name), Folder: folder}
}

func claudeCode(p Places) Target {
	if p.ClaudeConfig != "" {
		return in(p.ClaudeConfig, ".claude.json")
	}
	return Target{File: filepath.Join(p.Home, ".claude.json"), Folder: filepath.Join(p.Home, ".claude")}
}

func codex(p Places) Target {
	if p.CodexHome != "" {
		return in(p.CodexHome, "config.toml")
	}
	return in(filepath.Join(p.Home, ".codex"), "config.toml")
}

// claudeDesktop returns Claude Desktop's file. On Windows the installer makes a
// package since 2026, which sees a copy of the configuration folder and not the
// folder itself (anthropics/claude-code#25579).
func claudeDesktop(p Places) Target {
	const file = "claude_desktop_config.json"
	if p.OS == "windows" && p.Local != "" {
		packages, _ := filepath.Glob(filepath.Join(p.Local, "Packages", "Claude_*", "LocalCache", "Roaming"))
		if len(packages) > 0 {
			return in(filepath.Join(packages[0], "Claude"), file)
		}
	}
	return in(filepath.Join(p.Config, "Claude"), file)
}

// dotConfig returns the folder of programs that use ~/.config on macOS too.
func dotConfig(p Places) string {
	if p.OS == "darwin" {
		return filepath.Join(p.Home, ".config")
	}
	return p.Config
}

func zed(p Places) Target {
	if p.OS == "windows" {
		return in(filepath.Join(p.Config, "Zed"), "settings.json")
	}
	return in(filepath.Join(dotConfig(p), "zed"), "settings.json")
}
