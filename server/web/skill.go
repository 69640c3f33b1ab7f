package web

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/server/web/form"
	"github.com/skillsmcp/skills-mcp/server/web/markdown"
	"github.com/skillsmcp/skills-mcp/server/web/markup"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

// A skillScreen is the data of the screen of a skill.
type skillScreen struct {
	*describe.Skill
	Switches     *api.SkillItem // nil: they are not shown
	Remedy       string         // for its state; "" is none
	Raw          bool           // the instructions are shown as they are written
	Instructions markup.HTML
	Parameters   []*form.Field
	Sizes        []fileSize
	Argv         string
	Findings     []verdict.Finding
	Change       *change // since it was accepted; nil is none
	Runs         []*store.Run
	Wanted       []string // the secrets that it asks for and does not have
}

// A fileSize is a file of a skill.
type fileSize struct {
	Name, Path string
	Size       int64 // -1 where it cannot be read
}

// A change is the difference of a skill to its accepted version.
type change struct {
	*pins.Comparison
	Blocked      bool
	Gained, Lost []string
}

// skill shows one skill.
func (p skillScreens) skill(r *http.Request) (*content, error) {
	ctx, name := r.Context(), r.PathValue("name")
	info, err := p.options.Service.Skill(ctx, name)
	if err != nil {
		return nil, err
	}
	found, err := p.options.Service.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	screen, err := newSkillScreen(info, found.Files, r.URL.Query().Get("view") == "raw")
	if err != nil {
		return nil, err
	}
	if who := identity.FromContext(ctx); who.Named() && (describe.NeedsPerson(info.State) || !strings.HasPrefix(info.State, "approved") && !strings.HasPrefix(info.State, "needs")) {
		screen.Remedy = "" // it is for the person who runs the server
	}
	screen.Switches, screen.Wanted = p.switches(ctx, info.Name), found.MissingSecrets(info.Call.Has)
	if screen.Change, err = p.change(ctx, found); err != nil {
		p.options.Logger.Warn("compare a skill with its accepted version", "skill", info.Name, "error", err)
	}
	if p.options.Findings != nil {
		if screen.Findings, err = p.options.Findings(ctx, found); err != nil {
			p.options.Logger.Warn("scan a skill", "skill", info.Name, "error", err)
		}
	}
	runs, err := p.options.Service.Runs(ctx, api.RunQuery{Skill: info.Name, Limit: 10})
	if err != nil {
		p.options.Logger.Warn("read the runs of a skill", "skill", info.Name, "error", err)
	} else {
		screen.Runs = runs.Items
	}
	return &content{Title: titleOf(info), Template: "skill.html", Section: "skills", Live: []string{"skills", "runs"}, Data: screen}, nil
}

// newSkillScreen returns the screen of a skill, without that which only the server knows.
func newSkillScreen(info *describe.Skill, files fs.FS, raw bool) (*skillScreen, error) {
	parameters, err := json.Marshal(info.Parameters)
	if err != nil {
		return nil, err
	}
	s := &skillScreen{Skill: info, Remedy: remedy(info), Raw: raw}
	if fields, err := form.New(parameters, ""); err == nil {
		s.Parameters = fields.Fields[:min(len(fields.Fields), 200)]
	}
	if !raw {
		s.Instructions = markdown.Render(info.Body, func(name string) string {
			if !slices.Contains(info.Files, name) {
				return ""
			}
			return filePath(info.Name, "files", name)
		})
	}
	for _, name := range info.Files {
		s.Sizes = append(s.Sizes, newFileSize(files, info.Name, name))
	}
	if info.Call != nil {
		s.Argv = shellWords(info.Call.Argv)
	}
	return s, nil
}

// shellWords quotes words for bash, with characters that nobody sees as codes.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		text, err := syntax.Quote(word, syntax.LangBash)
		if err != nil { // of a NUL, which no program can be passed
			text = "…"
		}
		quoted[i] = text
	}
	return strings.Join(quoted, " ")
}

func newFileSize(files fs.FS, skill, name string) fileSize {
	f := fileSize{name, filePath(skill, "files", name), -1}
	if stat, err := fs.Stat(files, name); err == nil && stat.Mode().IsRegular() {
		f.Size = stat.Size()
	}
	return f
}

// titleOf returns the name of a skill for people.
func titleOf(info *describe.Skill) string {
	return termtext.Legible(cmp.Or(info.DisplayName, info.Name))
}

// remedy returns advice for a person about the state of a skill.
func remedy(info *describe.Skill) string {
	word, _, _ := strings.Cut(info.State, ":")
	switch {
	case word == "unavailable":
		return "The section Doctor shows what this machine has and lacks."
	case info.State == describe.BlockedByScan:
		return "Look at the findings below; scan.block in the configuration blocks it."
	case word == "blocked":
		return "Look at what has changed below, and accept it or leave the skill blocked."
	case word == "off":
		return "Enable it to have it again; a rule of the configuration comes first."
	case word == "person only":
		return "No model can call it: try it here."
	case word == "needs trust in its workspace":
		return "If you trust all skills there, run skills-mcp trust " + info.Workspace + " in a terminal."
	case strings.HasPrefix(word, "approved"):
		return "The section Approvals lists what you have approved, and revokes it."
	case strings.HasPrefix(word, "needs"):
		return "Each call asks you first: here, in the client, or in the section Approvals."
	case strings.HasPrefix(word, "shadowed"):
		return "Rename one of the two, or remove one."
	case word == "refused" && info.Call != nil && info.Call.Refused != nil:
		return info.Call.Refused.Message
	}
	return ""
}

// switches returns the item of a skill in the list, which has its switches; nil without one.
func (p skillScreens) switches(ctx context.Context, name string) *api.SkillItem {
	item, err := p.options.Service.Item(ctx, name)
	if err != nil {
		return nil
	}
	return item
}

// change returns the difference of a skill to its accepted version; nil for none.
func (p skillScreens) change(ctx context.Context, skill *skills.Skill) (*change, error) {
	if p.options.Pins == nil {
		return nil, nil
	}
	compared, err := p.options.Pins.Compare(ctx, skill)
	if err != nil || compared.Pin == nil || !compared.Changed() {
		return nil, err
	}
	c := &change{Comparison: compared, Blocked: compared.Grown() && skill.Guarded()}
	for _, one := range compared.Changes {
		if one.Gone {
			c.Lost = append(c.Lost, one.String())
		} else {
			c.Gained = append(c.Gained, one.String())
		}
	}
	return c, nil
}

// acceptChange accepts a skill as it is now, if its files are still those that the person
// has seen: the field digest has theirs.
func (p skillScreens) acceptChange(r *http.Request) (string, error) {
	ctx, name := r.Context(), r.PathValue("name")
	if !isPerson(ctx) || p.options.Pins == nil {
		return "", &run.Error{Code: run.PermissionDenied, Message: "Only the person may accept a change: sign in with the link that skills-mcp ui prints on a terminal, or run skills-mcp pin there."}
	}
	skill, err := p.options.Service.Find(ctx, name)
	if err != nil {
		return "", err
	}
	compared, err := p.options.Pins.Compare(ctx, skill)
	if err != nil {
		return "", err
	}
	if compared.Digest != r.PostFormValue("digest") {
		return "", &run.Error{Code: run.InvalidParam, Message: "The skill has changed again since you looked at it. Go back, load the page again and look at the change."}
	}
	if err := p.options.Pins.Accept(ctx, skill.Owner(), compared.Digest, compared.Folder); err != nil {
		return "", err
	}
	_, err = p.options.Service.Find(ctx, name) // it publishes the skill as it is now
	return skillPath(name), err
}

// setEnabled enables or disables a skill: the field "to" of the form is "true" or "false".
// The next screen is that of the field "next", or the skill's.
func (p skillScreens) setEnabled(r *http.Request) (string, error) {
	name := r.PathValue("name")
	return nextScreen(r, name), p.options.Service.SetEnabled(r.Context(), name, r.PostFormValue("to") == "true")
}

// setPinned keeps the tool of a skill, or no longer, with the fields of setEnabled.
func (p skillScreens) setPinned(r *http.Request) (string, error) {
	name := r.PathValue("name")
	return nextScreen(r, name), p.options.Service.SetPinned(r.Context(), name, r.PostFormValue("to") == "true")
}

// nextScreen returns the screen of the page that a form names, or that of a skill.
func nextScreen(r *http.Request, skill string) string {
	next, err := url.Parse(r.PostFormValue("next"))
	if err != nil || next.Scheme != "" || next.Host != "" || !strings.HasPrefix(next.Path, Path) || strings.Contains(next.Path, "..") || strings.Contains(next.Path, `\`) {
		return skillPath(skill)
	}
	if next.Path == Path && next.Fragment == "" {
		next.Fragment = rowID(skill)
	}
	return next.String()
}
