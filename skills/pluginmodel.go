package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// A Plugin is a folder with a manifest, that gives its name to its skills.
type Plugin struct {
	Name        string
	Version     string
	Description string
	Author      string
	Source      Source
	// Dir is the absolute host folder, or "" for a bundled plugin.
	Dir string
	// File is the manifest, for people.
	File string
	// Workspace and Trusted equal those of its skills; see there.
	Workspace string
	Trusted   bool
	// Prefix stands before the name of an untrusted workspace's plugin, as for a skill.
	Prefix string
	// Marketplace is the name of the one that lists the plugin, or "".
	Marketplace string
	// Installed equals that of its skills; see there.
	Installed bool
	// Servers have a skill each in the catalogs that are published.
	Servers []MCPServer
	// Hooks have a skill in the catalogs that are published, with a tool for each hook.
	Hooks []Hook
}

// Untrusted reports whether the plugin comes from a workspace that the person does not
// trust.
func (p *Plugin) Untrusted() bool { return p.Workspace != "" && !p.Trusted }

// QualifiedName returns the name with its prefix.
func (p *Plugin) QualifiedName() string { return qualify("/", p.Prefix, "", "", p.Name) }

// A Hook is a command, prompt or request that a plugin wants at an event.
type Hook struct {
	// ID names the event and the content: a hook that has changed has another one.
	ID      string `json:"id"`
	Event   string `json:"event"`
	Matcher string `json:"matcher,omitempty"` // of the tools that it is for
	If      string `json:"if,omitempty"`      // a permission rule of Claude Code that the call has to match
	Type    string `json:"type"`              // command, prompt, …
	// Runs is the command, prompt or URL. A command with Args is a program; else a shell, of
	// the name in Shell ("" is the default), reads it.
	Runs  string   `json:"runs,omitempty"`
	Args  []string `json:"args,omitempty"`
	Shell string   `json:"shell,omitempty"`
	// Timeout is in seconds; 0 is the default of who runs it.
	Timeout float64 `json:"timeout,omitempty"`
	// Async says that nobody waits for it, so that it decides nothing.
	Async bool `json:"async,omitempty"`
}

// Identify sets the ID of a hook that is complete.
func (h *Hook) Identify() {
	h.ID = ""
	text, _ := json.Marshal(h) // of texts, numbers and truths
	sum := sha256.Sum256(text)
	h.ID = strings.ToLower(h.Event) + "-" + hex.EncodeToString(sum[:3])
}

// Skipped returns why a hook is not run here; "" is that it is.
func (h *Hook) Skipped() string {
	switch {
	case h.Type != "command":
		return "hooks of the type " + h.Type + " are not run here; those of the type command are"
	case h.Shell != "" && h.Shell != "bash" && h.Shell != "sh":
		return "there is no shell " + h.Shell + " here"
	}
	return ""
}

// String returns the event, the matcher and what runs, for people.
func (h *Hook) String() string {
	event := h.Event
	if h.Matcher != "" {
		event += " (" + h.Matcher + ")"
	}
	return event + ": " + strings.Join(append([]string{h.Runs}, h.Args...), " ")
}

// Around reports whether hooks of an event run around calls here.
func (h *Hook) Around() bool {
	return slices.Contains([]string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart", "SessionEnd"}, h.Event)
}

// A MCPServer is a server that a plugin brings. The exported JSON is for people: variables
// and headers may hold secrets.
type MCPServer struct {
	Name      string `json:"name"`
	Transport string `json:"transport"`         // stdio, http, sse, …
	Command   string `json:"command,omitempty"` // with its arguments, for people
	URL       string `json:"url,omitempty"`     // without a query

	// Argv, Env and Dir start the server, and Address and Headers reach one over HTTP, as
	// they are declared: with references to variables, ${NAME} and ${NAME:-default}.
	Argv    []string          `json:"-"`
	Env     map[string]string `json:"-"`
	Dir     string            `json:"-"`
	Address string            `json:"-"`
	Headers map[string]string `json:"-"`

	// Code has a host program of ours serve the plugin's code, which is the last of Argv, and
	// gives Env; nil is a server of the plugin's own.
	Code *PluginCode `json:"-"`
}

// A ServerCall is a call to the MCP server of a plugin.
type ServerCall struct {
	Server MCPServer
	// Method is the method of MCP; "" starts the server, which lists its tools.
	Method string
	// Tool is the name of the tool or prompt there.
	Tool string
	// Definition is the digest of its definition, as the server has listed it.
	Definition string
	// Hooks are the events for which the code of a plugin of Conduit's has hooks.
	Hooks []string
}

// Methods of a [ServerCall].
const (
	CallTool     = "tools/call"
	GetPrompt    = "prompts/get"
	ReadResource = "resources/read"
	// RunHooks runs the hooks of Conduit code at the event that Tool names.
	RunHooks = "skills-mcp/hook"
)

// An Agent is a role for a model, with the tools that it may use.
type Agent struct {
	// Name is the agent's own name, by default its file's.
	Name string
	// Plugin is the name of the plugin that the agent belongs to, or "", and
	// PluginDir its host folder.
	Plugin, PluginDir string
	// Prefix stands before the name of an untrusted workspace's agent, as for a skill.
	Prefix string
	// Description says when to use the agent; "" where nobody said.
	Description string
	// Tools are the tools that it may use, as it names them; none is all.
	Tools []string
	// Model is the name of the model that it wants; "" is any.
	Model  string
	Source Source
	// Workspace is the folder whose agent it is, or "", and Trusted says that the person
	// trusts that, as for a skill.
	Workspace string
	Trusted   bool
	// File is the path of the agent's definition, for people.
	File string
	// Instructions are the text below the frontmatter, for the model that is it.
	Instructions string
	// Frontmatter is the whole frontmatter as JSON values, unknown keys included.
	Frontmatter map[string]any
}

// QualifiedName returns "plugin/agent", or the agent's name outside of plugins, with its
// prefix before it.
func (a *Agent) QualifiedName() string { return qualify("/", a.Prefix, a.Plugin, "", a.Name) }

// Untrusted reports whether the agent is of a workspace that the person does not trust.
func (a *Agent) Untrusted() bool { return a.Workspace != "" && !a.Trusted }

// A PluginCode is the code of a Conduit plugin, which registers tools.
type PluginCode struct {
	ID, Version string
	// Node says that it is an ES module, and not a Python package.
	Node bool
	// Settings are the keys of its configuration (config_schema).
	Settings Flags
}
