package plugins

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/server/plugins/conduit"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// newOwner returns the skill of a server whose tools are not known. Nothing but its rights is
// known of what a server does: it may do all that a person lets it, so each call is asked
// about, unless a rule says otherwise.
func newOwner(p *skills.Plugin, server skills.MCPServer, settings *conduit.Settings) *skills.Skill {
	launch, err := dependencies.ParseLaunch(server.Argv)
	var why string
	switch {
	case err != nil:
		why = err.Error()
	case launch == nil:
		why = refusal(&server)
	case settings == nil || !settings.Install:
		why = fmt.Sprintf("%s needs %s: a person can have that installed, once and in a sandbox of its own, with the docker driver and the setting sandbox.dependencies: build", launch.File, dependencies.Summary([]dependencies.Declared{launch.Declared}))
	}
	if server.Code != nil {
		if server.Env, err = settings.Env(server.Code, p.Workspace != ""); err != nil {
			why = err.Error()
		}
	}
	s := newSkill(p, manifest.CleanName(server.Name))
	s.ModelInvocable, s.Unavailable, s.Asks = true, why, []skills.Asked{skills.AskPerson}
	s.Entry = &skills.Entry{Context: skills.ContextNone, Server: &skills.ServerCall{Server: server}, Env: references(&server), Warm: -1}
	s.Description = fmt.Sprintf("Starts the MCP server %s of the plugin %s, and lists its tools, which are tools here from then on.", s.Name, p.Name)
	argv := server.Argv
	if launch != nil {
		argv = interpreters[launch.Kind]
	}
	s.Entry.Interpreter, s.Entry.Script, s.Entry.Args = commandLine(argv)
	if len(s.Entry.Interpreter) > 0 && s.Entry.Interpreter[0] == "node" {
		s.Entry.ImageRole = "node"
	}
	if host := hostOf(server.Address); host != "" {
		s.Entry.Network = []string{host}
	}
	return s
}

// newSkill returns a skill of a plugin whose files are the plugin's.
func newSkill(p *skills.Plugin, name string) *skills.Skill {
	return &skills.Skill{
		Name: name, Class: skills.Mutating,
		Plugin: p.Name, Prefix: p.Prefix, Source: p.Source, Dir: p.Dir, PluginDir: p.Dir, File: p.File, Files: skillfs.DirFS(p.Dir),
		Workspace: p.Workspace, Trusted: p.Trusted, Installed: p.Installed,
	}
}

// interpreters run the programs of packages in the sandbox, by the packages' kind.
var interpreters = map[string][]string{dependencies.Node: {"node"}, dependencies.Python: {"python3"}}

// commandLine divides the command line of a server at the first file of the plugin, which is
// its script.
func commandLine(argv []string) (interpreter []string, script string, rest skills.Input) {
	object := &jsonschema.Schema{Type: "object"}
	for i, word := range argv {
		name, inside := strings.CutPrefix(word, "${"+rootVariable+"}/")
		if i == 0 && strings.HasPrefix(word, "./") {
			name, inside = word, true
		}
		if inside {
			return argv[:i], path.Clean(name), skills.Input{Object: object, Argv: argv[i+1:]}
		}
	}
	return argv, "", skills.Input{Object: object}
}

// refusal returns why a server cannot be run here; "" is that it can.
func refusal(server *skills.MCPServer) string {
	switch {
	case server.Transport == "http" || server.Transport == "streamable-http" || server.Transport == "streamableHttp":
		u, err := url.Parse(server.Address)
		if err != nil || u.Hostname() == "" || strings.Contains(u.Host, "${") {
			return "its URL names no host"
		}
		return ""
	case server.Transport != "stdio":
		return fmt.Sprintf("its transport %q is not supported; stdio and http are", server.Transport)
	case len(server.Argv) == 0:
		return "it has no command"
	}
	switch program := path.Base(server.Argv[0]); program {
	case "npm", "pnpm", "bun", "uv", "pipx", "yarn":
		return program + " works on projects, which is not supported; the plugin has to start the server with node or python3, or a package of the registry with npx or uvx"
	case "docker", "podman", "ssh", "sudo", "cmd", "cmd.exe":
		return program + " does not work in a sandbox; the plugin has to start the server itself"
	}
	return ""
}

// addFault adds the last failure of a server, or of hooks, to the problems of its skill.
func addFault(owner *skills.Skill, l *listing) {
	if l.Fault == "" || owner.OfHooks() && time.Since(l.At) > 24*time.Hour { // others of them work
		return
	}
	what, remedy := "its MCP server "+owner.Name+" has failed", "the next call starts it again"
	if owner.OfHooks() {
		what, remedy = "one of its hooks was skipped", "its maintainer has to fix it, if it happens again"
	}
	owner.Problems = append(owner.Problems, skills.Problem{
		Severity: skills.Warning, Path: owner.File, Message: fmt.Sprintf("%s (%s): %s", what, l.At.Local().Format(time.DateTime), l.Fault), Remedy: remedy,
	})
}

// addTools gives the skill of a server the tools of its listing. A tool that cannot be used
// is a problem of the server. taken are the skills by qualified name.
func addTools(owner *skills.Skill, l *listing, taken map[string]*skills.Skill) {
	if !l.Known {
		return
	}
	if to := owner.Entry.Server; to.Server.Code != nil && len(l.Hooks) > 0 {
		to.Hooks, to.Definition = l.Hooks, strings.Join(l.Hooks, " ") // a yes of before covers no hooks
	}
	owner.Instructions, owner.ModelInvocable = l.Instructions, l.Instructions != ""
	owner.Description = fmt.Sprintf("The MCP server %s of the plugin %s. A call starts it, if it does not run; each start lists its tools again.", owner.Name, owner.Plugin)
	a := adder{owner, taken}
	for i := range l.Tools {
		a.add(&l.Tools[i], skills.CallTool)
	}
	for i := range l.Prompts {
		if skill := a.add(l.Prompts[i].tool(), skills.GetPrompt); skill != nil {
			skill.ModelInvocable, skill.UserInvocable = false, true
		}
	}
	if len(l.Resources) == 0 {
		return
	}
	if skill := a.add(reader(), skills.ReadResource); skill != nil {
		skill.ModelInvocable, skill.Entry.Server.Definition = false, "" // it reads whatever the server has
		for _, r := range l.Resources {
			if key := r.URI + r.Template; key != "" && len(key) <= maxURI && len(r.MIMEType) <= maxName && len(skill.Resources) < maxResources {
				skill.Resources = append(skill.Resources, newResource(skill, r))
			}
		}
	}
}

// Bounds of the resources of a server that are listed; the others can be read.
const (
	maxResources = 64
	maxURI       = 2 << 10 // bytes
)

// newResource returns a resource as clients see it.
func newResource(reader *skills.Skill, r resource) skills.Resource {
	own := skills.Resource{Name: truncate.String(cmp.Or(r.Name, r.Title, r.URI, r.Template), maxName), Title: truncate.String(r.Title, maxName), Description: r.Description, MIMEType: r.MIMEType}
	if own.URI = reader.ServerURI(r.URI); r.Template != "" {
		own.URI, own.Template = "", reader.ServerURI(r.Template)
	}
	return own
}

// An adder gives the skill of a server the tools, prompts and reader of its listing.
type adder struct {
	owner *skills.Skill
	taken map[string]*skills.Skill // by qualified name
}

// add adds a tool, or a prompt or the reader of resources: they are called NAME__prompt, or
// NAME__read, where a tool has the name. It returns nil for one that cannot be used, which is
// a problem of the server.
func (a adder) add(t *tool, method string) *skills.Skill {
	skill, err := newTool(a.owner, t, method)
	if err == nil && method != skills.CallTool && a.taken[skill.QualifiedName()] != nil {
		skill.Name += map[string]string{skills.GetPrompt: "__prompt", skills.ReadResource: "__read"}[method]
	}
	if err == nil && a.taken[skill.QualifiedName()] != nil {
		err = errors.New("another skill has its name")
	}
	if err != nil {
		kind := map[string]string{skills.GetPrompt: "prompt"}[method]
		a.owner.Problems = append(a.owner.Problems, skills.Problem{Severity: skills.Warning, Path: a.owner.File, Message: fmt.Sprintf("the %s %.100q of its MCP server %s is left out: %v", cmp.Or(kind, "tool"), t.Name, a.owner.Name, err), Remedy: "its maintainer has to fix it"})
		return nil
	}
	a.taken[skill.QualifiedName()] = skill
	a.owner.Tools = append(a.owner.Tools, skill)
	return skill
}

// newTool returns the skill of a tool that a method calls.
func newTool(owner *skills.Skill, t *tool, method string) (*skills.Skill, error) {
	s := *owner
	s.Of, s.Tools, s.Problems, s.Instructions = owner, nil, nil, ""
	s.Name = owner.Name + "__" + manifest.CleanName(t.Name)
	if s.Entry.Server.Server.Code != nil {
		s.Class = classOf(t.Meta.Permission)
	}
	s.DisplayName, s.Description, s.ModelInvocable = cmp.Or(t.Title, t.Annotations.Title), t.Description, true
	if manifest.CleanName(t.Name) == "" || len(t.Name) > maxName {
		return nil, errors.New("its name is not usable")
	}
	object, err := manifest.ParseToolSchema(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("its inputSchema: %w", err)
	}
	entry := s.Entry.To(skills.ServerCall{Server: s.Entry.Server.Server, Method: method, Tool: t.Name, Definition: t.definition()})
	entry.Args = skills.Input{Object: object, Argv: s.Entry.Args.(skills.Input).Argv}
	if len(t.OutputSchema) > 0 {
		if entry.Output, err = manifest.ParseToolSchema(t.OutputSchema); err != nil {
			return nil, fmt.Errorf("its outputSchema: %w", err)
		}
	}
	s.Entry = entry
	return &s, nil
}

// classOf returns the class of a tool that a plugin of Conduit's registers with a permission.
// It is the plugin's claim, as any skill's class is: the sandbox of a call gives it no more.
func classOf(permission string) skills.Class {
	switch permission {
	case "none", "safe", "read":
		return skills.Safe
	case "dangerous":
		return skills.Dangerous
	}
	return skills.Mutating
}
