package skills

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
	// Hooks are for a client to run. They are shown, and none is run.
	Hooks []Hook
}

// Untrusted reports whether the plugin comes from a workspace that the person does not
// trust.
func (p *Plugin) Untrusted() bool { return p.Workspace != "" && !p.Trusted }

// QualifiedName returns the name with its prefix.
func (p *Plugin) QualifiedName() string { return qualify("/", p.Prefix, "", "", p.Name) }

// A Hook is a command, prompt or request that a plugin wants at an event. Nothing
// here runs it.
type Hook struct {
	Event   string `json:"event"`
	Matcher string `json:"matcher,omitempty"` // of the tools that it is for
	Type    string `json:"type"`              // command, prompt, …
	// Runs is the command, prompt or URL, for people.
	Runs string `json:"runs,omitempty"`
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
}

// Methods of a [ServerCall].
const (
	CallTool     = "tools/call"
	GetPrompt    = "prompts/get"
	ReadResource = "resources/read"
)

// An Agent is a role for a model, with the tools that it may use. Nothing here
// starts one.
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

// A PluginCode is the code of a Conduit plugin, which registers tools.
type PluginCode struct {
	ID, Version string
	// Node says that it is an ES module, and not a Python package.
	Node bool
	// Settings are the keys of its configuration (config_schema).
	Settings Flags
}
