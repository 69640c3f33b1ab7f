package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// A library is a directory with many skills. A search finds those whose name has its text.
type library struct {
	*directory
	catalog  *skills.Catalog
	shadowed []skills.Shadow
}

func (l *library) View(context.Context) (*describe.View, error) {
	return &describe.View{
		Title: func(s *skills.Skill) string { return strings.ToUpper(s.Name[:1]) + s.Name[1:] }, Catalog: l.catalog, Library: skillsext.New(l.catalog, nil),
		Name: func(s *skills.Skill) string { return s.PlainToolName() }, Shadowed: l.shadowed,
		Exposed: exposure.Choose(l.catalog.Skills, exposure.State{}, func(*skills.Skill) exposure.Cost { return exposure.Cost{} }, exposure.Options{Mode: "all"}),
	}, nil
}

func (l *library) Search(_ context.Context, q search.Query) (r search.Result, err error) {
	for _, s := range l.catalog.Skills {
		if strings.Contains(s.Name, q.Text) && q.Keep(s) {
			r.Hits = append(r.Hits, search.Hit{Skill: s})
		}
	}
	r.Total = len(r.Hits)
	return r, nil
}

// rules have skills that are off, and note decisions.
type rules struct {
	off   []policy.Off
	noted []string
}

func (r *rules) Enable(_ context.Context, s *skills.Skill, enabled bool) error {
	r.noted = append(r.noted, fmt.Sprintf("enable %s %v", s.Name, enabled))
	return nil
}

func (r *rules) Pin(_ context.Context, s *skills.Skill, pinned bool) error {
	r.noted = append(r.noted, fmt.Sprintf("pin %s %v", s.Name, pinned))
	return nil
}

func (r *rules) Off(context.Context) []policy.Off { return r.off }

func (r *rules) Generation(context.Context) (int64, error) { return 1, nil }

// newLibrary returns skills of each state, and problems, one of them with its file.
func newLibrary(t *testing.T) *library {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "SKILL.md")
	if err := os.WriteFile(file, []byte("---\nname: a\n\ttimeout: <b>\u202e\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "LINK.md")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	entry := &skills.Entry{Script: "run.py"}
	ready := skills.Skill{ModelInvocable: true, UserInvocable: true, Source: skills.SourceUser, Class: skills.Safe, Description: "Does something.", File: "/s/SKILL.md"}
	named := func(name string, change func(*skills.Skill)) *skills.Skill {
		s := ready
		if s.Name = name; change != nil {
			change(&s)
		}
		return &s
	}
	evil := named("evil\u202e\"><script>alert(1)</script>", func(s *skills.Skill) { s.Description = "<img src=x onerror=alert(1)>\u2066" })
	all := []*skills.Skill{
		named("deploy", func(s *skills.Skill) { s.Entry, s.Class, s.Source = entry, skills.Mutating, skills.SourceSession }),
		evil,
		named("hidden", func(s *skills.Skill) { s.ModelInvocable = false }),
		named("report", func(s *skills.Skill) { s.Plugin, s.PinnedByPerson = "office", true }),
		named("wipe", func(s *skills.Skill) { s.Entry, s.Class, s.Unavailable = entry, skills.Dangerous, "jq is missing" }),
	}
	slices.SortFunc(all, func(a, b *skills.Skill) int { return strings.Compare(a.QualifiedName(), b.QualifiedName()) })
	return &library{newDirectory(), &skills.Catalog{
		Skills:  all,
		Plugins: []*skills.Plugin{{Name: "office", Version: "2.0", Source: skills.SourceUser}},
		Problems: []skills.Problem{
			{Severity: skills.Warning, Path: link, Line: 3, Col: 2, Message: "of a link"},
			{Severity: skills.Error, Path: file, Line: 3, Col: 11, Message: "not a <duration>", Remedy: "write 30s"},
		},
	}, []skills.Shadow{{Skill: named("report", nil), By: all[0]}}}
}

// newSkillsPage returns a page with a library.
func newSkillsPage(t *testing.T, l *library, r *rules) http.Handler {
	t.Helper()
	state := store.New(filepath.Join(t.TempDir(), "state.db"), nil)
	t.Cleanup(func() {
		if err := state.Close(); err != nil {
			t.Error(err)
		}
	})
	service := api.New(api.Options{Directory: l, Rules: r, Runs: store.NewRuns(state), Approvals: approval.New(state, nil)})
	return New(Options{Service: service, Folders: []string{"/home/ada/.claude/skills", "/home/ada/.agents/skills"}, Logger: slog.New(slog.DiscardHandler)}).Handler()
}

// The skills that need the person come first, also from later pages; a description comes
// before the states of its skill.
func TestSkillsThatNeedYou(t *testing.T) {
	l := newLibrary(t)
	for i := range 60 {
		l.catalog.Skills = append(l.catalog.Skills, &skills.Skill{Name: fmt.Sprintf("m%d", i), ModelInvocable: true, Source: skills.SourceUser, Class: skills.Safe, Description: "Is one of many."})
	}
	l.catalog.Skills = append(l.catalog.Skills, &skills.Skill{Name: "zoo", Plugin: "zoos", Blocked: "it has gained network", ModelInvocable: true, Source: skills.SourceUser, Class: skills.Safe, Description: "Counts animals."})
	screen := get(t, newSkillsPage(t, l, &rules{}), identity.Person, Path).Body.String()
	at := 0
	for _, text := range []string{"<h2>Need you</h2>", "skills/zoos%2Fzoo\"", "Counts animals.", "badge-bad\">blocked", "skills/deploy\""} {
		found := strings.Index(screen[at:], text)
		if found < 0 {
			t.Fatalf("%q does not come next in %s", text, screen[at:])
		}
		at += found
	}
}

// The screen has each skill with its state and reason, plugins as groups, and problems with
// their line. Nothing of a stranger is more than text.
func TestSkillsScreen(t *testing.T) {
	l := newLibrary(t)
	dir := filepath.Dir(l.catalog.Problems[0].Path)
	r := &rules{off: []policy.Off{{Skill: &skills.Skill{Name: "old", Source: skills.SourceUser, Class: skills.Safe, Description: "Is old."}, Why: "you have disabled it"}}}
	h := newSkillsPage(t, l, r)
	w := get(t, h, identity.Person, Path)
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	goldenSkill(t, "skills.html", strings.ReplaceAll(mainOf(t, w.Body.String()), dir, "DIR"))
	other := get(t, h, identity.Token, Path).Body.String()
	for _, secret := range []string{"aria-pressed", "old", dir, "shadow", "comes after"} {
		if strings.Contains(other, secret) {
			t.Errorf("another principal is shown %q", secret)
		}
	}
}

// The form selects, and its choices and pages are in the address.
func TestSkillsSearch(t *testing.T) {
	l := newLibrary(t)
	for i := range 2 * maxSkills {
		l.catalog.Skills = append(l.catalog.Skills, &skills.Skill{Name: fmt.Sprintf("x%03d", i), ModelInvocable: true, Source: skills.SourceExtra, Class: skills.Safe})
	}
	h := newSkillsPage(t, l, &rules{})
	rows := func(query string) (names []string, body string) {
		t.Helper()
		body = get(t, h, identity.Person, Path+query).Body.String()
		for _, part := range strings.Split(body, `<li id="skill-`)[1:] {
			name, _, _ := strings.Cut(part, `"`)
			names = append(names, name)
		}
		return names, body
	}
	for query, want := range map[string]string{
		"?q=report": "office%2Freport", "?class=mutating": "deploy", "?source=session": "deploy", "?state=unavailable": "wipe", "?class=dangerous&state=unavailable": "wipe",
		"?state=person": "hidden", "?q=deploy&class=safe": "",
	} {
		names, body := rows(query)
		if strings.Join(names, " ") != want {
			t.Errorf("%s: %q", query, names)
		}
		if want == "" && !strings.Contains(body, "No skill is like this") {
			t.Errorf("%s: %s", query, body)
		}
	}
	names, body := rows("?source=extra")
	if len(names) != maxSkills || !strings.Contains(body, `<option value="extra" selected>`) || strings.Contains(body, "First page") {
		t.Errorf("the first page has %d", len(names))
	}
	_, rest, _ := strings.Cut(body, `rel="next" href="/ui/`)
	next, _, _ := strings.Cut(rest, `"`)
	second, body := rows(strings.ReplaceAll(next, "&amp;", "&"))
	if len(second) != maxSkills || second[0] == names[0] || !strings.Contains(body, `href="/ui/?source=extra">First page`) {
		t.Errorf("the page after it, %s, has %d", next, len(second))
	}
}

// A switch is a form that leads back to its row.
func TestSkillsSwitches(t *testing.T) {
	r := &rules{}
	l := newLibrary(t)
	l.skill = l.catalog.Skills[slices.IndexFunc(l.catalog.Skills, func(s *skills.Skill) bool { return s.Plugin != "" })]
	h := newSkillsPage(t, l, r)
	body := get(t, h, identity.Person, Path+"?source=user").Body.String()
	const form, back = "/ui/?source=user", "/ui/?source=user#skill-office%252Freport"
	for _, want := range []string{`formaction="/ui/skills/office%2Freport/enabled" name="to" value="false" aria-pressed="true"`, `formaction="/ui/skills/office%2Freport/pinned" name="to" value="false" aria-pressed="true"`, `name="next" value="` + form + `"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, path := range []string{"enabled", "pinned"} {
		w := post(t, h, identity.Person, "/ui/skills/office%2Freport/"+path, url.Values{"to": {"false"}, "next": {form}})
		if w.Code != 303 || w.Header().Get("Location") != back {
			t.Errorf("%s: %d, to %s", path, w.Code, w.Header().Get("Location"))
		}
		if w := post(t, h, identity.Token, "/ui/skills/office%2Freport/"+path, url.Values{"to": {"true"}}); w.Code != 403 {
			t.Errorf("%s of another principal: %d", path, w.Code)
		}
	}
	if got := strings.Join(r.noted, ", "); got != "enable report false, pin report false" {
		t.Error(got)
	}
}

// Who has no skills is told where to put one.
func TestSkillsEmpty(t *testing.T) {
	l := &library{newDirectory(), &skills.Catalog{}, nil}
	body := get(t, newSkillsPage(t, l, &rules{}), identity.Person, Path).Body.String()
	for _, want := range []string{"There are no skills yet", "<bdi>/home/ada/.claude/skills</bdi>", "skills-mcp init", "samples: true"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q", want)
		}
	}
	l.catalog.Skills = []*skills.Skill{{Name: "code-complexity", Plugin: samples, ModelInvocable: true, Class: skills.Safe}}
	if body := get(t, newSkillsPage(t, l, &rules{}), identity.Person, Path).Body.String(); !strings.Contains(body, "Only the samples are here") || !strings.Contains(body, "Open one of them") {
		t.Error("the samples are not offered")
	}
}

// The largest page stays small on the wire, whatever strangers write.
func TestSkillsSize(t *testing.T) {
	l := &library{newDirectory(), &skills.Catalog{}, nil}
	for i := range 2 * maxSkills {
		l.catalog.Skills = append(l.catalog.Skills, &skills.Skill{
			Name: fmt.Sprintf("%03d-%s", i, strings.Repeat("n", 40)), Plugin: strings.Repeat("p", 20), ModelInvocable: true, Source: skills.SourceUser, Class: skills.Dangerous, Entry: &skills.Entry{},
			Description: strings.Repeat("description ", 100), Unavailable: strings.Repeat("because ", 200),
		})
		l.catalog.Problems = append(l.catalog.Problems, skills.Problem{Path: strings.Repeat("/folder", 20), Message: strings.Repeat("message ", 100), Remedy: strings.Repeat("remedy ", 50)})
	}
	if n := get(t, newSkillsPage(t, l, &rules{}), identity.Person, Path).Body.Len(); n > 100<<10 {
		t.Errorf("the page has %d KB", n>>10)
	}
}
