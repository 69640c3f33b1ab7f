package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Bounds of the screen of the skills, which together are less than 100 KB.
const (
	maxSkills   = 50  // of one page
	maxText     = 200 // bytes of a description, a reason, and so on
	maxHeading  = 80  // bytes
	maxProblems = 15
	maxFolders  = 6
)

// samples is the plugin whose skills are in the program.
const samples = "colony-samples"

// A skillsScreen lists the skills.
type skillsScreen struct {
	service *api.Service
	folders []string
}

// A skillList is the data of the screen of the skills.
type skillList struct {
	Query    api.SkillQuery
	Filters  []filter
	Filtered bool
	Total    int
	Groups   []skillGroup
	First    string // path of the first page; "" on that
	Next     string // path of the next page; "" on the last one
	Found    *api.Overview
	Problems []shownProblem
	More     int // problems that are not shown
	Folders  []string
	Hint     bool // there are no skills but the samples
}

// A skillGroup has the skills of a plugin on a page.
type skillGroup struct {
	Plugin *describe.Plugin // nil for skills of no plugin, and for the hits of a search
	Needs  bool             // the skills that need the person
	Rows   []skillRow
}

// A skillRow is a skill in the list.
type skillRow struct {
	api.SkillItem
	ID            string
	State, Reason string
}

// A filter is a choice of the form.
type filter struct {
	Name, Label, Value string
	Options            [][2]string // value and text
}

// show answers a request for the screen.
func (s *skillsScreen) show(r *http.Request) (*content, error) {
	ctx, form := r.Context(), r.URL.Query()
	l := &skillList{Query: api.SkillQuery{
		Text: form.Get("q"), Source: skills.Source(form.Get("source")), Class: skills.Class(form.Get("class")), State: form.Get("state"),
		Cursor: form.Get("cursor"), Limit: maxSkills,
	}}
	page, err := s.service.Skills(ctx, l.Query)
	if err != nil {
		return nil, err
	}
	l.Filters = filters(&l.Query)
	l.Total, l.Filtered = page.Total, l.Query.Text != "" || slices.ContainsFunc(l.Filters, func(f filter) bool { return f.Value != "" })
	if page.Next != "" {
		l.Next = withCursor(form, page.Next)
	}
	if l.Query.Cursor != "" {
		l.First = withCursor(form, "")
	}
	if l.Groups, err = s.groups(ctx, page.Items, l.Query.Text == ""); err != nil {
		return nil, err
	}
	if isPerson(ctx) {
		if err := s.overview(ctx, l); err != nil {
			return nil, err
		}
	}
	return &content{Title: "Skills", Template: "skills.html", Section: "skills", Live: []string{"skills"}, Data: l}, nil
}

// withCursor returns the path of a page of the same query.
func withCursor(form url.Values, cursor string) string {
	form.Del("cursor")
	if cursor != "" {
		form.Set("cursor", cursor)
	}
	return (&url.URL{Path: Path, RawQuery: form.Encode()}).String()
}

// filters returns the choices of the form.
func filters(q *api.SkillQuery) []filter {
	all := [2]string{"", "All"}
	return []filter{
		{"source", "Source", string(q.Source), [][2]string{all, {"session", "Workspace"}, {"user", "User"}, {"system", "System"}, {"extra", "Extra"}}},
		{"class", "Class", string(q.Class), [][2]string{all, {"safe", "Safe"}, {"mutating", "Mutating"}, {"dangerous", "Dangerous"}}},
		{"state", "State", q.State, [][2]string{all, {"ready", "Ready"}, {"needs", "Needs a yes"}, {"approved", "Approved"}, {"unavailable", "Unavailable"}, {"blocked", "Blocked"}, {"refused", "Refused"}, {"person", "Person only"}, {"off", "Off"}}},
	}
}

// groups returns the rows of a page: if they are grouped, those that need the person first,
// and then those of no plugin.
func (s *skillsScreen) groups(ctx context.Context, items []api.SkillItem, grouped bool) ([]skillGroup, error) {
	var plugins []describe.Plugin
	if grouped && slices.ContainsFunc(items, func(i api.SkillItem) bool { return i.Plugin != "" }) {
		var err error
		if plugins, err = s.service.Plugins(ctx); err != nil {
			return nil, err
		}
	}
	groups, at := []skillGroup{{Needs: true}, {}}, map[string]int{"": 1}
	for _, item := range items {
		plugin := item.Plugin
		if grouped && describe.NeedsPerson(item.State) {
			groups[0].Rows = append(groups[0].Rows, newSkillRow(item))
			continue
		}
		if !grouped {
			plugin = ""
		}
		if at[plugin] == 0 {
			group := skillGroup{Plugin: &describe.Plugin{Name: plugin}} // one whose skills are all off
			if found := slices.IndexFunc(plugins, func(p describe.Plugin) bool { return p.Name == plugin }); found >= 0 {
				group.Plugin = &plugins[found]
			}
			at[plugin] = len(groups)
			groups = append(groups, group)
		}
		i := at[plugin]
		groups[i].Rows = append(groups[i].Rows, newSkillRow(item))
	}
	return groups, nil
}

func newSkillRow(item api.SkillItem) skillRow {
	item.Description, item.Match = truncate.String(item.Description, maxText), truncate.String(item.Match, maxText)
	row := skillRow{SkillItem: item, ID: rowID(item.Name)}
	row.State, row.Reason, _ = strings.Cut(item.State, ": ")
	row.Reason = truncate.String(row.Reason, maxText)
	return row
}

// rowID returns the ID of the element of a skill in the list.
func rowID(name string) string { return "skill-" + url.PathEscape(name) }

// Heading returns the title, or the name.
func (r skillRow) Heading() string { return truncate.String(cmp.Or(r.Title, r.Name), maxHeading) }

// Tone returns the class of the badge of the state.
func (r skillRow) Tone() string {
	switch word, _, _ := strings.Cut(r.State, " "); word {
	case "ready", "approved", "approved,":
		return "badge-ok"
	case "needs", "person":
		return "badge-warn"
	case "unavailable", "blocked", "refused", "shadowed":
		return "badge-bad"
	}
	return ""
}

// overview adds the problems, and a hint to a person without skills.
func (s *skillsScreen) overview(ctx context.Context, l *skillList) error {
	found, err := s.service.Overview(ctx)
	if err != nil {
		return err
	}
	l.Found = found
	most := min(len(found.Problems), maxProblems)
	for _, problem := range found.Problems[:most] {
		l.Problems = append(l.Problems, newShownProblem(problem))
	}
	l.More = len(found.Problems) - most
	own := slices.ContainsFunc(l.Groups, func(g skillGroup) bool {
		return len(g.Rows) > 0 && (g.Plugin == nil || g.Plugin.Name != samples)
	})
	l.Hint = !l.Filtered && l.Query.Cursor == "" && l.Next == "" && !own
	l.Folders = s.folders[:min(len(s.folders), maxFolders)]
	return nil
}
