package main

// A manifest describes a bundle to a client: its command and its settings. The
// fields are those of MCPB's manifest version 0.4
// (github.com/modelcontextprotocol/mcpb, MANIFEST.md).
type manifest struct {
	ManifestVersion  string            `json:"manifest_version"`
	Name             string            `json:"name"`
	DisplayName      string            `json:"display_name"`
	Version          string            `json:"version"`
	Description      string            `json:"description"`
	LongDescription  string            `json:"long_description"`
	Author           author            `json:"author"`
	Repository       source            `json:"repository"`
	Homepage         string            `json:"homepage"`
	Documentation    string            `json:"documentation"`
	Support          string            `json:"support"`
	Server           program           `json:"server"`
	Tools            []tool            `json:"tools"`
	ToolsGenerated   bool              `json:"tools_generated"`
	PromptsGenerated bool              `json:"prompts_generated"`
	Keywords         []string          `json:"keywords"`
	License          string            `json:"license"`
	Compatibility    compatibility     `json:"compatibility"`
	UserConfig       map[string]option `json:"user_config"`
}

type author struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type source struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type program struct {
	Type       string  `json:"type"`
	EntryPoint string  `json:"entry_point"`
	Config     command `json:"mcp_config"`
}

type command struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

type tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type compatibility struct {
	Platforms []string `json:"platforms"`
}

// An option is a setting that the client asks the person for. It needs a default:
// without one the client would insert the variable's name for an empty answer.
type option struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Default     string `json:"default"`
}

const (
	title       = "Skills in sandboxes"
	description = "Your agent skills as typed MCP tools, each call in a fresh, locked-down sandbox."
)

// newManifest returns the manifest of one platform's bundle. Settings reach the
// program as environment variables; empty ones count as not set.
func newManifest(p platform, module, version string) manifest {
	home := "https://" + module
	entry := "server/" + p.program()
	return manifest{
		ManifestVersion: "0.4",
		Name:            "skills-mcp",
		DisplayName:     title,
		Version:         version,
		Description:     description,
		LongDescription: "Finds the folders with a SKILL.md that you have, in your home folder, in projects and in plugins, and makes each a tool. Nothing runs outside of a sandbox: a container, where Docker is there, or Linux namespaces. It reports nothing to anybody.",
		Author:          author{"The skills-mcp authors", home},
		Repository:      source{"git", home},
		Homepage:        home,
		Documentation:   home + "/blob/v" + version + "/README.md",
		Support:         home + "/issues",
		Server: program{"binary", entry, command{
			Command: "${__dirname}/" + entry,
			Args:    []string{"serve"},
			Env: map[string]string{
				"SKILLS_MCP_SKILLS":    "${user_config.skills}",
				"SKILLS_MCP_WORKSPACE": "${user_config.workspace}",
				"SKILLS_MCP_SANDBOX":   "${user_config.sandbox}",
				"SKILLS_MCP_EXPOSE":    "${user_config.expose}",
			},
		}},
		Tools: []tool{
			{"search_skills", "Find skills for a task."},
			{"load_skill", "Read a skill's instructions."},
			{"run_skill", "Run a skill in a sandbox."},
		},
		ToolsGenerated:   true,
		PromptsGenerated: true,
		Keywords:         []string{"agent-skills", "skills", "sandbox"},
		License:          "Apache-2.0",
		Compatibility:    compatibility{[]string{p.node()}},
		UserConfig:       questions(),
	}
}

func questions() map[string]option {
	return map[string]option{
		"workspace": {Type: "directory", Title: "Project folder", Description: "The folder whose files skills may see. Without one they see none of your files."},
		"skills":    {Type: "directory", Title: "More skills", Description: "A folder with skills beside those that are found by themselves."},
		"sandbox":   {Type: "string", Title: "Sandbox", Description: "auto, docker or native", Default: "auto"},
		"expose":    {Type: "string", Title: "Which skills are tools", Description: "auto, all or search", Default: "auto"},
	}
}
