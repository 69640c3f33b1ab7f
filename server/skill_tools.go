package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxDescription is where clients cut a tool's description.
const maxDescription = 2 << 10

// skillTools are the tools of the skills that have one.
func (s *Server) skillTools(v *view) []mcpserver.ServerTool {
	var tools []mcpserver.ServerTool
	for _, skill := range v.catalog.Skills {
		if v.tool(skill) == "" {
			continue
		}
		tool, err := s.skillTool(skill, v.name(skill))
		if err != nil { // costs that skill its tool, and nothing else
			s.logger.Error("a skill has no tool", "skill", skill.QualifiedName(), "error", err)
			continue
		}
		tools = append(tools, tool)
	}
	return tools
}

// skillTool returns the tool of a skill.
func (s *Server) skillTool(skill *skills.Skill, name string) (mcpserver.ServerTool, error) {
	if skill.Entry == nil {
		return s.instructionTool(skill, name), nil
	}
	return s.executableTool(skill, name)
}

func (s *Server) executableTool(skill *skills.Skill, name string) (mcpserver.ServerTool, error) {
	t := mcp.Tool{Name: name, Description: describe(skill), Annotations: s.annotate(skill), Meta: largeResult()}
	if schema := skill.Entry.Output; schema != nil {
		encoded, err := json.Marshal(schema)
		if err != nil {
			return mcpserver.ServerTool{}, fmt.Errorf("encode the output schema of tool %s: %w", name, err)
		}
		t.RawOutputSchema = encoded
	}
	// The tool keeps to its name: a call finds the skill as it is by then.
	return s.tool(t, inputSchema(skill), s.typed(skill.Entry, func(r *request) (*mcp.CallToolResult, error) {
		skill, err := s.lookup(r, skill.QualifiedName())
		if err != nil {
			return nil, err
		}
		return s.lasting(r, skill.Task, s.typed(skill.Entry, func(r *request) (*mcp.CallToolResult, error) {
			return s.execute(r, run.Request{Skill: skill, Args: r.args})
		}))
	}))
}

// typed takes from an error the structure that is not of the output schema: clients
// that check results, the TypeScript SDK among them, would show that fault in
// place of what went wrong. The text has the code and the reason.
func (s *Server) typed(entry *skills.Entry, handle handler) handler {
	return func(r *request) (*mcp.CallToolResult, error) {
		result, err := handle(r)
		if err != nil {
			result, err = s.refused(err)
		}
		if err != nil || !result.IsError {
			return result, err
		}
		if object, _ := result.StructuredContent.(json.RawMessage); entry.CheckOutput(object) != nil {
			result.StructuredContent = nil
		}
		return result, nil
	}
}

// execute calls a skill and returns what its own tool does.
func (s *Server) execute(r *request, req run.Request) (*mcp.CallToolResult, error) {
	outcome, err := s.run(r, req)
	if outcome == nil {
		return nil, err
	}
	return s.report(r, req.Skill, outcome, err).skillResult(req.Skill.Entry, outcome), nil
}

// argsOnly are the arguments of an instruction skill.
type argsOnly struct {
	Args string `json:"args,omitempty" jsonschema_description:"What to put in for $ARGUMENTS in the instructions."`
}

// instructionArguments are shared by the tools of all instruction skills: there may
// be thousands. They are strict: instructions have nobody to pass others on to.
var instructionArguments = sync.OnceValue(func() *arguments[argsOnly] { return newArguments[argsOnly](true) })

func (s *Server) instructionTool(skill *skills.Skill, name string) mcpserver.ServerTool {
	return fixedTool[argsOnly]{
		name: name, title: title(skill), arguments: instructionArguments(),
		description: truncate.String(describe(skill)+"\n\nReturns the skill's instructions; nothing is run.", maxDescription),
		handle: func(r *request, args argsOnly) (any, error) {
			skill, err := s.lookup(r, skill.QualifiedName())
			if err != nil {
				return nil, err
			}
			return s.load(r, skill, args.Args)
		},
	}.tool(s)
}

// title is the name that clients show a person.
func title(skill *skills.Skill) string { return cmp.Or(skill.DisplayName, skill.QualifiedName()) }

// describe tells a model what a skill does and when to use it.
func describe(skill *skills.Skill) string {
	description := skill.Description
	if description == "" {
		description = "The skill " + skill.QualifiedName() + "."
	}
	if skill.WhenToUse != "" {
		description += "\n\nWhen to use: " + skill.WhenToUse
	}
	note := ""
	if owner := skill.Owner(); owner != skill && owner.Instructions != "" {
		note = fmt.Sprintf("\n\nA tool of the skill %s. Read its instructions first: load_skill with name %q.", owner.QualifiedName(), owner.QualifiedName())
	}
	note += aboutFiles(skill)
	return truncate.String(description, maxDescription-len(note)) + note
}

// inputSchema returns the schema of a skill's arguments. A parameter that takes a
// file, and of which its script says nothing, names the skill that tells of it.
func inputSchema(skill *skills.Skill) *jsonschema.Schema {
	schema, owner := skill.Entry.Schema(), skill.Owner()
	files := skill.Entry.Files()
	if len(files) == 0 || owner.Instructions == "" {
		return schema
	}
	described := *schema
	described.Properties = jsonschema.NewProperties()
	for p := schema.Properties.Oldest(); p != nil; p = p.Next() {
		property := *p.Value
		if property.Description == "" && slices.ContainsFunc(files, func(f skills.FileParam) bool { return f.Name == p.Key }) {
			property.Description = fmt.Sprintf("A file or folder; the instructions of the skill %s tell of it (load_skill).", owner.QualifiedName())
		}
		described.Properties.Set(p.Key, &property)
	}
	return &described
}

// aboutFiles tells a model how to name files for a skill that takes some, or may.
func aboutFiles(skill *skills.Skill) string {
	if skill.Entry == nil {
		return ""
	}
	var takes, anyNames bool
	for _, p := range skill.Entry.Params() {
		takes, anyNames = takes || p.Path, anyNames || p.NamesFiles()
	}
	_, words := skill.Entry.Passing().(skills.RawArgv)
	takes = takes || len(skill.Entry.Files()) > 0
	switch {
	case words, anyNames && !takes:
		return "\n\nIt runs in its own folder: name files of the workspace as /workspace/NAME, and write to /out/NAME, which is returned."
	case !takes:
		return ""
	}
	if skill.Class != skills.Safe {
		return "\n\nRelative paths are in the workspace, /workspace."
	}
	return "\n\nRelative paths are in the workspace, /workspace; files that it writes go to /out and are returned."
}

// annotate derives the hints from the class: they are what the sandbox makes
// true, not what the skill's author says.
func (s *Server) annotate(skill *skills.Skill) mcp.ToolAnnotation {
	grant, err := s.calls.Grant(context.Background(), skill) // a publication is of no request
	return mcp.ToolAnnotation{
		Title:           title(skill),
		ReadOnlyHint:    hint(skill.Class == skills.Safe),
		DestructiveHint: hint(skill.Class == skills.Dangerous),
		OpenWorldHint:   hint(err == nil && len(grant.Hosts) > 0),
	}
}

// run calls a skill for a model, with its stderr and what it waits for as
// progress.
func (s *Server) run(r *request, req run.Request) (*run.Outcome, error) {
	progress := s.progress(r, req.Skill.QualifiedName())
	defer progress.close()
	outcome, err := s.perform(r, req, progress)
	if outcome != nil {
		s.used(req.Skill)
	}
	if missing := missingCapability(r.ctx, err); missing != nil {
		return nil, missing
	}
	return outcome, err
}

// load returns a skill's instructions.
func (s *Server) load(r *request, skill *skills.Skill, args string) (*mcp.CallToolResult, error) {
	skill = skill.Owner()
	if !skill.ModelInvocable {
		return nil, &run.Error{Code: run.PermissionDenied, Message: "skill " + skill.QualifiedName() + " may be called by a person only"}
	}
	loaded, err := s.instruct(r, skill, args)
	if err != nil {
		return nil, err
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(loaded.place() + loaded.text())}}
	result.Meta = loaded.meta()
	return result, nil
}

// instruct returns a skill's instructions for one use.
func (s *Server) instruct(r *request, skill *skills.Skill, args string) (*loaded, error) {
	dir, err := s.baseDir(r.ctx, skill)
	if err != nil {
		return nil, err
	}
	content, err := skill.Instantiate(args, dir)
	if errors.Is(err, skills.ErrTooLong) {
		return nil, &run.Error{Code: run.InvalidParam, Message: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	s.used(skill)
	return &loaded{Name: skill.QualifiedName(), BaseDir: dir, URI: skillsext.URI(skill), Content: content, Tools: callable(skill.Tools)}, nil
}

// callable are the names of those tools that a model can call. The instructions
// speak of files, and may be all that it knows of the skill.
func callable(tools []*skills.Skill) []string {
	var names []string
	for _, tool := range tools {
		if tool.ModelInvocable && tool.Unavailable == "" {
			names = append(names, tool.QualifiedName())
		}
	}
	return names
}

// loaded is a skill's instructions for one use.
type loaded struct {
	Name    string
	BaseDir string
	URI     string // "" where there is no SKILL.md
	Content string
	// Tools are the names of what else the skill runs, and a model can call.
	Tools []string
}

// meta returns the metadata of a result, for programs. Models read the text: a
// structure would be shown to them in its place.
func (l *loaded) meta() *mcp.Meta {
	fields := map[string]any{"name": l.Name, "base_dir": l.BaseDir}
	if l.URI != "" {
		fields["uri"] = l.URI
	}
	return mcp.NewMetaFromMap(fields)
}

// place tells where the files are that the instructions speak of.
func (l *loaded) place() string { return "Base directory for this skill: " + l.BaseDir + "\n\n" }

// text is what a model reads.
func (l *loaded) text() string {
	if len(l.Tools) == 0 {
		return l.Content
	}
	return l.Content + "\n\nTools of this skill, which run_skill runs by these names: " + strings.Join(l.Tools, ", ")
}

// baseDirLease is the lifetime of the copy of a skill's folder whose path a client
// was given.
const baseDirLease = 24 * time.Hour

// baseDir is where the files are that the instructions speak of: the skill's
// own folder, or for a bundled or packed skill a copy of it.
func (s *Server) baseDir(ctx context.Context, skill *skills.Skill) (string, error) {
	if skill.Dir != "" {
		return skill.Dir, nil
	}
	snap, err := s.options.Snapshots.Take(ctx, skill.Files, snapshot.Use{Skill: skill.QualifiedName(), Lease: baseDirLease})
	if err != nil {
		return "", err
	}
	return snap.Dir, nil
}
