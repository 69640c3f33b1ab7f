package describe

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/feedback"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// A Skill is everything known of a skill: the result of get_skill and the output of
// show --json.
type Skill struct {
	Listed
	DisplayName string   `json:"display_name,omitempty"` // for people
	WhenToUse   string   `json:"when_to_use,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	Plugin      string   `json:"plugin,omitempty"`
	Workspace   string   `json:"workspace,omitempty"` // the folder that others may write to and that it is from
	URI         string   `json:"uri,omitempty"`       // of its SKILL.md
	Unlisted    string   `json:"unlisted,omitempty"`  // why skills/list of MCP leaves it out
	Tools       []string `json:"tools,omitempty"`     // names of the skills that it has as tools
	Of          string   `json:"of,omitempty"`        // name of the skill whose tool it is
	Prompt      string   `json:"prompt,omitempty"`    // name of its prompt
	Arguments   []string `json:"arguments,omitempty"` // names of positional arguments of the instructions

	Always       bool   `json:"always,omitempty"`        // its author wants it with every message
	ConduitAgent string `json:"conduit_agent,omitempty"` // the agent to which Conduit routes messages that it fits

	// The script that a call runs; all are left out for instructions.
	Script       string                  `json:"script,omitempty"`
	Interpreter  []string                `json:"interpreter,omitempty"`
	ImageRole    string                  `json:"image_role,omitempty"` // "" is the default
	Network      []string                `json:"network,omitempty"`    // hosts that it wants
	Env          []string                `json:"env,omitempty"`        // names of variables that it wants
	Warm         int                     `json:"warm,omitempty"`       // sandboxes that wait; negative is none
	Timeout      float64                 `json:"timeout_seconds,omitempty"`
	Asks         []skills.Asked          `json:"asks,omitempty"`  // whom it may ask while it runs
	Calls        []string                `json:"calls,omitempty"` // skills that it wants to call
	Task         skills.Task             `json:"task,omitempty"`  // when calls of it are tasks, beside those that take long
	Dependencies []dependencies.Declared `json:"dependencies,omitempty"`
	Call         *Plan                   `json:"call,omitempty"`
	Parameters   any                     `json:"parameters,omitempty"`    // a JSON Schema
	Output       any                     `json:"output_schema,omitempty"` // a JSON Schema

	Requires    *skills.Requires `json:"requires,omitempty"`
	Paths       []string         `json:"paths,omitempty"`     // globs of the files that it is for
	Resources   []Resource       `json:"resources,omitempty"` // that clients read
	Frontmatter map[string]any   `json:"frontmatter"`         // unknown keys included
	Body        string           `json:"body,omitempty"`      // the instructions, as they are written
	Digest      string           `json:"digest"`              // of all files; "" where they cannot be read
	Files       []string         `json:"files"`
	Path        string           `json:"path,omitempty"`  // absolute, of its folder; "" is that of a packed skill
	Modified    *time.Time       `json:"mtime,omitempty"` // of its manifest
	Problems    []skills.Problem `json:"problems"`

	Feedback *feedback.Summary `json:"feedback,omitempty"` // how its last calls ended, and ratings
}

// A Resource is one that a skill declares. It has a URI or a template.
type Resource struct {
	URI      string `json:"uri,omitempty"`
	Template string `json:"uri_template,omitempty"`
	File     string `json:"file,omitempty"` // "" is the output of the skill
}

// A View describes the skills of one catalog.
type View struct {
	Catalog *skills.Catalog
	Exposed *exposure.Exposure
	Library *skillsext.Library
	// Name returns the name of a skill's tool, if it has one, and of its prompt.
	Name func(*skills.Skill) string
	// Title returns the name of a skill for people.
	Title func(*skills.Skill) string
	// Shadowed are the skills that did not get their name, of the whole catalog.
	Shadowed []skills.Shadow
	// Plan returns the plan of a call; nil where the skill has nothing to run.
	Plan func(context.Context, *skills.Skill) *Plan
	// State returns whether a skill can be used; nil is [State].
	State func(*skills.Skill) string
	// Feedback returns the feedback on a skill, or nil; nil is none on any.
	Feedback func(context.Context, *skills.Skill) *feedback.Summary
	// Installed returns where an installed skill comes from, nil for another one; nil is
	// none of any.
	Installed func(context.Context, *skills.Skill) *Installed
	// Scan returns what the last scan of a skill's files found, in few words; nil is nothing.
	Scan func(*skills.Skill) string
	// Has reports whether a skill has a secret, or a variable, for a list; nil lists none.
	Has func(skill *skills.Skill, name string) bool
	// Texts returns nil if the texts of a skill may be passed on, or else the error of
	// [View.Skill]; nil passes on all.
	Texts func(context.Context, *skills.Skill) error
	// ForModel cuts texts to the bounds below for a model, and leaves out the
	// instructions that only a person may follow.
	ForModel bool
	// Remote leaves out where on this machine files are, for a reader on another one.
	Remote bool
}

// Place returns where a file is, for a reader who may be on another machine: the end of its
// path then.
func Place(file string, remote bool) string {
	if !remote {
		return file
	}
	return filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
}

// Bounds of a skill for a model. A person gets all of it.
const (
	maxBody  = 48 << 10 // bytes, as of any text
	maxFiles = 512
	allFiles = 1 << 20
)

// tool returns the name of a skill's tool, or "" where it has none.
func (v *View) tool(skill *skills.Skill) string {
	if v.Exposed.Of(skill).Reach != exposure.ByTool {
		return ""
	}
	return v.Name(skill)
}

// Listed describes a skill in a list for a person.
func (v *View) Listed(skill *skills.Skill) Listed {
	l := Listed{Summary: summarize(skill, v.tool(skill)), Decision: v.Exposed.Of(skill), File: skill.File, Category: skill.Category}
	l.State = v.StateOf(skill)
	if v.Scan != nil {
		l.Scan = v.Scan(skill)
	}
	if v.Has != nil && !skill.Untrusted() { // which is given nothing
		l.Requests = run.SecretRequests(skill, func(name string) bool { return v.Has(skill, name) })
	}
	return l
}

// StateOf returns whether a skill can be used, in a word or a few.
func (v *View) StateOf(skill *skills.Skill) string {
	if v.State == nil {
		return State(skill)
	}
	return v.State(skill)
}

// Skill describes a skill in full. Its files are read for that. The error is that its texts
// may not be passed on, that ctx is done, or of a cache that was damaged.
func (v *View) Skill(ctx context.Context, skill *skills.Skill) (*Skill, error) {
	if v.Texts != nil {
		if err := v.Texts(ctx, skill); err != nil {
			return nil, err
		}
	}
	d := &Skill{
		Listed: v.Listed(skill), DisplayName: skill.DisplayName, WhenToUse: skill.WhenToUse, Keywords: skill.Keywords,
		Plugin: skill.Plugin, Workspace: skill.Workspace, Arguments: skill.Arguments,
		Always: skill.Always(), ConduitAgent: skill.ConduitAgent(),
		Paths: skill.Paths, Resources: resources(v.Catalog, skill), Frontmatter: skill.Frontmatter,
		Problems: slices.Clone(skill.Problems),
	}
	d.Tools, d.Of = Relatives(skill)
	if IsPrompt(skill) {
		d.Prompt = v.Name(skill)
	}
	if !skill.Requires.Empty() {
		d.Requires = &skill.Requires
	}
	if err := v.content(ctx, skill, d); err != nil {
		return nil, err
	}
	v.served(ctx, skill, d)
	if skill.Entry != nil && skill.Blocked == "" {
		d.runs(skill)
		d.Call = v.Plan(ctx, skill)
		d.Problems = append(d.Problems, run.SecretRequests(skill, d.Call.Has)...)
	}
	if v.Installed != nil {
		d.Installed = v.Installed(ctx, skill)
	}
	if v.Feedback != nil {
		d.Feedback = v.Feedback(ctx, skill)
	}
	d.place(v.Shadowed, skill)
	d.Problems = append([]skills.Problem{}, d.Problems...)
	if v.Remote {
		d.elsewhere()
	}
	return d, nil
}

// elsewhere leaves out the paths of this machine but those of workspaces, which calls name.
func (d *Skill) elsewhere() {
	d.File, d.Path = Place(d.File, true), ""
	for i := range d.Problems {
		d.Problems[i].Path = Place(d.Problems[i].Path, true)
	}
	if d.Call != nil && len(d.Call.Mounts) > 0 {
		d.Call.Mounts[0].From = "a snapshot of the skill"
	}
}

// content adds the instructions and the files.
func (v *View) content(ctx context.Context, skill *skills.Skill, d *Skill) error {
	most := allFiles
	if !v.ForModel || skill.ModelInvocable {
		text, err := skill.Owner().Text()
		if err != nil {
			return err
		}
		d.Body = text
	}
	if v.ForModel {
		d.Body, most = truncate.String(d.Body, maxBody), maxFiles
	}
	d.Files, d.Path = files(skill, most), skill.Dir
	if info, err := fs.Stat(skill.Files, path.Base(filepath.ToSlash(skill.File))); err == nil && !info.ModTime().IsZero() {
		changed := info.ModTime().UTC()
		d.Modified = &changed
	}
	digest, err := snapshot.Digest(ctx, skill.Files)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		d.Problems = append(d.Problems, skills.Problem{Severity: skills.Warning, Path: skill.File, Message: "its files have no digest: " + err.Error()})
	}
	d.Digest = digest
	return nil
}

// served adds how the Skills extension of MCP has the skill.
func (v *View) served(ctx context.Context, skill *skills.Skill, d *Skill) {
	d.URI = skillsext.URI(skill)
	if !skillsext.Has(skill) {
		return
	}
	d.Unlisted = v.Library.Unlisted(ctx, skill)
	if problem := skillsext.Excess(ctx, skill); problem != nil {
		d.Problems = append(d.Problems, *problem)
	}
}

// runs adds the script of a skill, and the problems that only a look into it finds.
func (d *Skill) runs(skill *skills.Skill) {
	e := skill.Entry
	d.Script, d.Interpreter, d.ImageRole = e.Script, e.Interpreter, e.ImageRole
	d.Network, d.Env, d.Warm, d.Timeout = e.Network, e.Env, e.Warm, e.Timeout.Seconds()
	d.Asks, d.Calls, d.Task, d.Parameters = skill.Asks, skill.Calls, skill.Task, e.Schema()
	if e.Output != nil {
		d.Output = e.Output
	}
	d.Problems = slices.Concat(d.Problems, skill.Unread(), check.Review(skill))
	declared, problem := Dependencies(skill)
	d.Dependencies = declared
	if problem != nil {
		d.Problems = append(d.Problems, *problem)
	}
	if skill.Untrusted() && len(e.Env)+len(e.Network) > 0 {
		d.Problems = append(d.Problems, skills.Problem{
			Severity: skills.Note, Path: skill.File, Message: "it is of the workspace " + skill.Workspace + ", which is not trusted, so it is granted no variables and no hosts",
			Remedy: "if you trust all skills there, say so in a terminal of yours, with skills-mcp trust " + skill.Workspace,
		})
	}
}

// Has reports whether a call has a secret of a name, or a variable. No call lacks one.
func (p *Plan) Has(name string) bool {
	return p == nil || slices.Contains(p.Environment, name) || slices.ContainsFunc(p.Secrets, func(line string) bool { return strings.HasPrefix(line, name+",") })
}

// place adds that another skill has the name of a skill.
func (d *Skill) place(shadowed []skills.Shadow, skill *skills.Skill) {
	for _, shadow := range shadowed {
		if shadow.Skill.File == skill.File && (shadow.Skill.Name == skill.Name || shadow.Skill.Name == skill.Owner().Name) {
			d.Hide(shadow)
		}
	}
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

// resources returns those that a skill has in its catalog.
func resources(catalog *skills.Catalog, skill *skills.Skill) (all []Resource) {
	for _, r := range catalog.Resources() {
		if r.Skill == skill {
			all = append(all, Resource{r.URI, r.Template, r.File})
		}
	}
	return all
}

// files returns the paths of a skill's files, sorted, at most most of them.
// Folders that cannot be read are left out.
func files(skill *skills.Skill, most int) []string {
	names := []string{}
	folder, release, err := skillfs.Hold(skill.Files)
	if err != nil {
		return names
	}
	defer release()
	_ = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
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
