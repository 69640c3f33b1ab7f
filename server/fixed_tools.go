package server

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// fixedNames are the names that no skill's tool or prompt can have.
func fixedNames() []string {
	return []string{
		"close_sandbox", "get_skill", "list_plugins", "list_skills", "load_skill", "open_sandbox",
		"read_output", "reload_skills", "run_code", "run_skill", "search_skills", anyPrompt,
	}
}

// fixedTools make the tools that exist whatever the catalog holds.
type fixedTools struct {
	*toolMaker
	find      *finder
	invoke    *invoker
	loader    *loader
	sandboxes *sandboxTools
}

// tools returns the tools. The description of search_skills names skills of the view.
func (t *fixedTools) tools(v *view) []mcpserver.ServerTool {
	return append(t.sandboxes.tools(),
		t.getSkill(), t.listPlugins(), t.listSkills(), t.loadSkill(),
		readOutputTool(t.toolMaker, t.invoke.outputs), t.reloadSkills(), t.runSkill(), t.searchSkills(v),
	)
}

// A Summary is a skill in a list.
type Summary struct {
	Name        string        `json:"name"`
	Tool        string        `json:"tool,omitempty"`
	Source      skills.Source `json:"source"`
	Class       skills.Class  `json:"class"`
	Kind        string        `json:"kind"`
	State       string        `json:"state"`
	Description string        `json:"description"`
	// A model chooses by the following fields.
	WhenToUse  string         `json:"when_to_use,omitempty"`
	Parameters []ParamSummary `json:"parameters,omitempty"`
}

// A ParamSummary is a parameter in a list.
type ParamSummary struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// maxParamsListed bounds the parameters of a skill in a list.
const maxParamsListed = 16

// Summarize describes a skill whose tool, if it has one, is called tool.
func Summarize(skill *skills.Skill, tool string) Summary {
	return Summary{
		Name: skill.QualifiedName(), Tool: tool, Source: skill.Source, Class: skill.Class,
		Kind: Kind(skill), State: State(skill), Description: skill.Description,
	}
}

// maxSummary is how much of a description a model's list shows, in bytes.
const maxSummary = 240

func (v *view) summary(skill *skills.Skill) Summary {
	s := Summarize(skill, v.tool(skill))
	s.Description = truncate.String(s.Description, maxSummary)
	s.WhenToUse = truncate.String(skill.WhenToUse, maxSummary)
	if skill.Entry != nil {
		params := skill.Entry.Params()
		for _, p := range params[:min(len(params), maxParamsListed)] {
			s.Parameters = append(s.Parameters, ParamSummary{p.Name, p.Schema.Type, p.Required})
		}
	}
	return s
}

// cursorArgs are the arguments of a list that has nothing to choose.
type cursorArgs struct {
	Cursor string `json:"cursor,omitempty" jsonschema_description:"next_cursor of the page before."`
}

// skillList is what list_skills and search_skills return.
type skillList struct {
	Skills []Summary `json:"skills"`
	// More is how many matched beyond those listed.
	More int `json:"more,omitempty"`
	// Next is the cursor of the next page.
	Next string `json:"next_cursor,omitempty"`
	// Hint says what to do where nothing was found.
	Hint string `json:"hint,omitempty"`
}

type listArgs struct {
	Source string `json:"source,omitempty" jsonschema:"enum=session,enum=user,enum=system,enum=extra,enum=plugin" jsonschema_description:"Only skills of this source, or of plugins; all of them when left out."`
	Cursor string `json:"cursor,omitempty" jsonschema_description:"next_cursor of the page before."`
}

func (a listArgs) lists(skill *skills.Skill) bool {
	return a.Source == "" || string(skill.Source) == a.Source || a.Source == "plugin" && skill.Plugin != ""
}

func (t *fixedTools) listSkills() mcpserver.ServerTool {
	return fixedTool[listArgs]{
		name: "list_skills", title: "List skills",
		description: "List every skill there is, a page at a time: its name, its tool, where it comes from, whether it runs something or gives instructions, whether it is ready, and its parameters.",
		handle: func(r *request, args listArgs) (any, error) {
			var listed []*skills.Skill
			for _, skill := range r.view.exposed.Order() {
				if args.lists(skill) {
					listed = append(listed, skill)
				}
			}
			page, next, err := pageOf(listed, args.Cursor, r.view.summary)
			return skillList{Skills: page, Next: next}, err
		},
	}.tool(t.toolMaker)
}

type searchArgs struct {
	Query string `json:"query" jsonschema_description:"Words that all have to occur in a skill's name, description or when_to_use."`
	// A number of any spelling is fine: 5.0 is an integer.
	MaxResults float64 `json:"max_results,omitempty" jsonschema:"type=integer,minimum=1,default=10" jsonschema_description:"How many skills to return at the most."`
}

func (t *fixedTools) searchSkills(v *view) mcpserver.ServerTool {
	return fixedTool[searchArgs]{
		name: "search_skills", title: "Search skills", description: searchDescription(v.exposed),
		// Clients that load tools on demand must always have this one.
		meta: mcp.NewMetaFromMap(map[string]any{"anthropic/alwaysLoad": true}),
		handle: func(r *request, args searchArgs) (any, error) {
			if strings.TrimSpace(args.Query) == "" {
				return nil, &run.Error{Code: run.InvalidParam, Message: `"query" is empty; give a word or two, or use list_skills`}
			}
			most := 10
			if args.MaxResults > 0 {
				most = int(min(args.MaxResults, 1000))
			}
			return r.view.search(args.Query, most), nil
		},
	}.tool(t.toolMaker)
}

// search leaves out what a model may not call.
func (v *view) search(query string, most int) skillList {
	found, size := skillList{Skills: []Summary{}}, 0
	for _, skill := range v.catalog.Search(query) {
		switch {
		case !skill.ModelInvocable:
		case len(found.Skills) < most && size < maxPageSize:
			s := v.summary(skill)
			size += len(encoded(s))
			found.Skills = append(found.Skills, s)
		default:
			found.More++
		}
	}
	if len(found.Skills) == 0 {
		found.Hint = "no skill has all of these words; search with fewer or other words, or see list_skills"
	}
	return found
}

type nameArgs struct {
	Name string `json:"name" jsonschema_description:"The skill's name, plugin/name, or the name of its tool."`
}

// details is what get_skill returns.
type details struct {
	Summary
	exposure.Decision
	WhenToUse   string           `json:"when_to_use,omitempty"`
	File        string           `json:"file"`
	Tools       []string         `json:"tools,omitempty"` // names of what else it runs
	Of          string           `json:"of,omitempty"`    // whose tool it is
	Script      string           `json:"script,omitempty"`
	Parameters  json.RawMessage  `json:"parameters,omitempty"`
	Output      any              `json:"output_schema,omitempty"`
	ImageRole   string           `json:"image_role,omitempty"`
	Network     []string         `json:"network,omitempty"`
	Asks        []skills.Asked   `json:"asks,omitempty"` // whom it may ask while it runs
	Task        skills.Task      `json:"task,omitempty"`
	Frontmatter map[string]any   `json:"frontmatter"`
	Body        string           `json:"body,omitempty"` // the instructions, as they are written
	Files       []string         `json:"files"`
	Problems    []skills.Problem `json:"problems"`
}

// maxListed is how many files of a skill are named.
const maxListed = 512

func (t *fixedTools) getSkill() mcpserver.ServerTool {
	return fixedTool[nameArgs]{
		name: "get_skill", title: "Show a skill",
		description: "Everything known of one skill: its frontmatter, instructions as they are written, parameters, files and problems. To use a skill, call load_skill or run_skill instead.",
		handle: func(r *request, args nameArgs) (any, error) {
			skill, err := t.find.named(r, args.Name)
			if err != nil {
				return nil, err
			}
			return r.view.details(skill)
		},
	}.tool(t.toolMaker)
}

func (v *view) details(skill *skills.Skill) (*details, error) {
	d := &details{
		Summary:     Summarize(skill, v.tool(skill)),
		Decision:    v.exposed.Of(skill),
		WhenToUse:   skill.WhenToUse,
		File:        skill.File,
		Frontmatter: skill.Frontmatter,
		Files:       Files(skill, maxListed),
		Problems:    append([]skills.Problem{}, skill.Problems...),
	}
	d.Tools, d.Of = Relatives(skill)
	if skill.ModelInvocable {
		text, err := skill.Owner().Text()
		if err != nil {
			return nil, err
		}
		d.Body = truncate.String(text, maxText)
	}
	if skill.Entry == nil {
		return d, nil
	}
	var err error
	d.Script, d.ImageRole, d.Network = skill.Entry.Script, skill.Entry.ImageRole, skill.Entry.Network
	d.Asks, d.Task = skill.Asks, skill.Task
	if skill.Entry.Output != nil {
		d.Output = skill.Entry.Output
	}
	d.Parameters, err = json.Marshal(skill.Entry.Schema())
	return d, err
}

// Relatives returns the names of a skill's tools, and that of the skill whose
// tool it is itself.
func Relatives(skill *skills.Skill) (tools []string, of string) {
	for _, tool := range skill.Tools {
		tools = append(tools, tool.QualifiedName())
	}
	if skill.Of != nil {
		of = skill.Of.QualifiedName()
	}
	return tools, of
}

// Files returns the paths of a skill's files, sorted, at most most of them.
// What cannot be read is left out.
func Files(skill *skills.Skill, most int) []string {
	names := []string{}
	files, release, err := skillfs.Hold(skill.Files)
	if err != nil {
		return names
	}
	defer release()
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case d.IsDir() && scan.Skip(d.Name()):
			return fs.SkipDir
		case len(names) == most:
			return fs.SkipAll
		case !d.IsDir():
			names = append(names, name)
		}
		return nil
	})
	return names
}

// A PluginSummary is a plugin in a list, with the names of its skills.
type PluginSummary struct {
	Name        string        `json:"name"`
	Version     string        `json:"version,omitempty"`
	Description string        `json:"description,omitempty"`
	Author      string        `json:"author,omitempty"`
	Source      skills.Source `json:"source"`
	Skills      []string      `json:"skills"`
	Counts      PluginCounts  `json:"counts"`

	Marketplace string             `json:"marketplace,omitempty"`
	Agents      []AgentSummary     `json:"agents,omitempty"`
	Servers     []skills.MCPServer `json:"mcp_servers,omitempty"` // none is started
	Hooks       []skills.Hook      `json:"hooks,omitempty"`       // none is run
}

// PluginCounts counts the parts of a plugin. Tools of skills do not count as skills.
type PluginCounts struct {
	Skills   int `json:"skills"`
	Commands int `json:"commands"`
	Tools    int `json:"tools"`
	Agents   int `json:"agents"`
	Servers  int `json:"mcp_servers"`
	Hooks    int `json:"hooks"`
}

// An AgentSummary is an agent in a list. Nothing starts it.
type AgentSummary struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Model       string   `json:"model,omitempty"`
	Tools       []string `json:"tools,omitempty"`
}

// Agents describes the agents of a catalog, by their qualified names.
func Agents(catalog *skills.Catalog) []AgentSummary {
	list := []AgentSummary{}
	for _, a := range catalog.Agents {
		list = append(list, summarizeAgent(a, a.QualifiedName()))
	}
	return list
}

func summarizeAgent(a *skills.Agent, name string) AgentSummary {
	return AgentSummary{name, truncate.String(a.Description, maxSummary), a.Model, a.Tools}
}

// Plugins describes the plugins of a catalog.
func Plugins(catalog *skills.Catalog) []PluginSummary {
	list := []PluginSummary{}
	for _, p := range catalog.Plugins {
		summary := PluginSummary{
			Name: p.Name, Version: p.Version, Description: p.Description, Author: p.Author, Source: p.Source, Skills: []string{},
			Marketplace: p.Marketplace, Servers: p.Servers, Hooks: p.Hooks,
		}
		for _, a := range catalog.Agents {
			if a.Plugin == p.Name && a.PluginDir == p.Dir {
				summary.Agents = append(summary.Agents, summarizeAgent(a, a.Name))
			}
		}
		counts := PluginCounts{Agents: len(summary.Agents), Servers: len(p.Servers), Hooks: len(p.Hooks)}
		for _, skill := range catalog.Skills {
			if skill.Plugin != p.Name || skill.PluginDir != p.Dir {
				continue
			}
			switch {
			case skill.Of != nil:
				counts.Tools++
				continue
			case skill.Command:
				counts.Commands++
			default:
				counts.Skills++
			}
			summary.Skills = append(summary.Skills, skill.QualifiedName())
		}
		summary.Counts = counts
		list = append(list, summary)
	}
	return list
}

func (t *fixedTools) listPlugins() mcpserver.ServerTool {
	return fixedTool[cursorArgs]{
		name: "list_plugins", title: "List plugins",
		description: "List the plugins that skills come from, with how many skills, commands, tools and agents they have.",
		handle: func(r *request, args cursorArgs) (any, error) {
			plugins, next, err := pageOf(Plugins(r.view.catalog), args.Cursor, PluginSummary.short)
			return pluginList{plugins, next}, err
		},
	}.tool(t.toolMaker)
}

// pluginList is the result of list_plugins.
type pluginList struct {
	Plugins []PluginSummary `json:"plugins"`
	Next    string          `json:"next_cursor,omitempty"`
}

// short is the summary for a model: of many skills, the first are named.
func (p PluginSummary) short() PluginSummary {
	p.Skills = p.Skills[:min(len(p.Skills), maxPage)]
	p.Agents = p.Agents[:min(len(p.Agents), maxPage)]
	p.Description = truncate.String(p.Description, maxSummary)
	return p
}

// reloaded is what reload_skills returns.
type reloaded struct {
	Skills   int      `json:"skills"` // without the tools that some of them have
	Plugins  int      `json:"plugins"`
	Changed  bool     `json:"changed"` // the tools have
	Problems []string `json:"problems"`
	Shadowed []string `json:"shadowed"`
	// Found is the number of all problems and shadowed skills.
	Found int    `json:"found,omitempty"`
	Next  string `json:"next_cursor,omitempty"`
}

func (t *fixedTools) reloadSkills() mcpserver.ServerTool {
	return fixedTool[cursorArgs]{
		name: "reload_skills", title: "Reload skills",
		description: "Scan the skill folders again. Changes are noticed without it; use it to see the problems that were found, a page at a time: with a cursor nothing is scanned.",
		handle: func(r *request, args cursorArgs) (any, error) {
			catalog, changed := r.view.catalog, false
			if args.Cursor == "" && t.find.reloader != nil {
				var err error
				if catalog, changed, err = t.find.reloader.Reload(r.ctx); err != nil {
					return nil, err
				}
			}
			result := reloaded{Skills: catalog.Count(), Plugins: len(catalog.Plugins), Changed: changed, Problems: []string{}, Shadowed: []string{}}
			var err error
			result.Next, err = result.fill(catalog, args.Cursor)
			return result, err
		},
	}.tool(t.toolMaker)
}

// fill adds a page of the problems and the shadowed skills of a catalog.
func (r *reloaded) fill(catalog *skills.Catalog, cursor string) (next string, err error) {
	var all []string
	for _, p := range catalog.Problems {
		if p.Severity != skills.Note {
			all = append(all, p.String())
		}
	}
	problems := len(all)
	for _, shadow := range catalog.Shadowed {
		all = append(all, fmt.Sprintf("%s (%s) by %s", shadow.Skill.QualifiedName(), shadow.Skill.File, shadow.By.File))
	}
	r.Found = len(all)
	page, next, err := pageOf(all, cursor, func(text string) string { return text })
	if err != nil {
		return "", err
	}
	from, _ := position(mcp.Cursor(cursor))
	cut := min(max(problems-from, 0), len(page))
	r.Problems, r.Shadowed = page[:cut], page[cut:]
	return next, nil
}

type loadArgs struct {
	Name string `json:"name" jsonschema_description:"The skill's name, plugin/name, or the name of its tool."`
	Args string `json:"args,omitempty" jsonschema_description:"What to put in for $ARGUMENTS in the instructions."`
}

func (t *fixedTools) loadSkill() mcpserver.ServerTool {
	return fixedTool[loadArgs]{
		name: "load_skill", title: "Load a skill's instructions", strict: true,
		description: "Return the instructions of a skill, to follow them. Nothing is run.",
		handle: func(r *request, args loadArgs) (any, error) {
			skill, err := t.find.named(r, args.Name)
			if err != nil {
				return nil, err
			}
			return t.loader.load(r.ctx, skill, args.Args)
		},
	}.tool(t.toolMaker)
}

type runArgs struct {
	Name    string         `json:"name" jsonschema_description:"The skill's name, plugin/name, or the name of its tool."`
	Params  map[string]any `json:"params,omitempty" jsonschema_description:"The skill's parameters; get_skill describes them."`
	Timeout *float64       `json:"timeout_seconds,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Stop the skill after this time instead of its own; no longer than the server allows."`

	ContainerID string `json:"container_id,omitempty" jsonschema_description:"Run it in this sandbox, which open_sandbox has opened for this skill, instead of a fresh one."`
}

func (t *fixedTools) runSkill() mcpserver.ServerTool {
	return fixedTool[runArgs]{
		name: "run_skill", title: "Run a skill", runs: true, writes: true, meta: largeResult(), hidden: t.sandboxes.hiddenArgs(),
		description: "Run an executable skill in a fresh sandbox and return its exit code and output. Reaches every such skill, also those without a tool of their own; get_skill tells their parameters.",
		handle: func(r *request, args runArgs) (any, error) {
			if err := onlyRunArgs(r.args); err != nil {
				return nil, err
			}
			skill, err := t.find.named(r, args.Name)
			if err != nil {
				return nil, err
			}
			req := run.Request{Skill: skill}
			// Not those of args: here numbers are as they were written.
			req.Args, _ = r.args["params"].(map[string]any)
			if req.Timeout, err = seconds(args.Timeout); err != nil {
				return nil, err
			}
			if req.Session, err = t.sandboxes.session(args.ContainerID); err != nil {
				return nil, err
			}
			return t.invoke.asTask(r, skill.Task, func(r *request) (*mcp.CallToolResult, error) { return t.invoke.report(r, req) })
		},
	}.tool(t.toolMaker)
}

// onlyRunArgs returns an error if there are arguments besides those of run_skill: left
// out without a word, they would have the skill run with its defaults.
func onlyRunArgs(args map[string]any) error {
	for name := range args {
		if !slices.Contains([]string{"name", "params", "timeout_seconds", "container_id"}, name) {
			return &run.Error{Code: run.InvalidParam, Message: fmt.Sprintf(`there is no parameter %q; those of the skill go into "params"`, name)}
		}
	}
	return nil
}
