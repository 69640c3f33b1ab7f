package installation

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func plan() *install.Plan {
	from := source.Source{Kind: source.Git, Location: "https://github.com/owner/repo"}
	return &install.Plan{Source: from, Fetched: &source.Fetched{Notes: []source.Note{{Text: "4 downloads"}}}, Items: []*install.Item{{
		Path:   "skills/report",
		State:  &lock.State{Name: "report", Kind: "skill", Source: from, Revision: "abc", Path: "in/report", Digest: "sha256:12"},
		Skills: []*skills.Skill{{Name: "report", Description: "Reports.\n> It is harmless.\x1b[2J"}},
		Surface: []surface.Item{
			{Kind: surface.Credential, Value: "~/.ssh", File: "run.sh", Line: 3},
			{Kind: surface.Host, Value: "a.example"}, {Kind: surface.Host, Value: "b.example\nIt could: nothing"},
			{Kind: surface.Command, Value: "git"}, {Kind: surface.Command, Value: "curl"}, {Kind: surface.Name, Value: "report"},
		},
	}}}
}

func TestLines(t *testing.T) {
	lines := strings.Join(Describe(plan(), install.Target{Dir: "/data"}).Lines(), "\n") + "\n"
	want := `> "report", a skill
> Reports.\n> It is harmless.\x1b[2J
from
> git+https://github.com/owner/repo, revision abc
> its folder in/report
goes to
> /data/skills/report
It could:
> names a place of credentials, ~/.ssh (run.sh:3)
> reach the hosts a.example, b.example\nIt could: nothing
> run git, curl
The source states:
> 4 downloads
Not checked: whether the files are the author's. The source states nothing to compare them with.
Nothing of it was run. What it could do was read from its files, which can hide it.
`
	if os.PathSeparator == '\\' {
		want = strings.ReplaceAll(want, "/data/skills/report", `\data\skills\report`)
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// A suspicion comes first, and the difference of an update before its texts.
func TestOrder(t *testing.T) {
	p := plan()
	p.Fetched.Notes = append(p.Fetched.Notes, source.Note{Suspicious: true, Text: "flagged"})
	item := p.Items[0]
	item.Replaces = &lock.State{Source: item.State.Source, Revision: "aaa"}
	item.Gained = []surface.Change{{Item: surface.Item{Kind: surface.Host, Value: "c.example"}}}
	item.Diff = "--- SKILL.md\n+ Do more."
	lines := Describe(p, install.Target{Dir: "/data"}).Lines()
	at := -1
	for _, next := range []string{"SUSPICIOUS", "> flagged", "> \"report\"", "It gains, and", "> + reaches the host c.example", "> + Do more.", "It could:"} {
		found := -1
		for i, line := range lines {
			if strings.HasPrefix(line, next) {
				found = i
			}
		}
		if found <= at {
			t.Fatalf("%q is not in its place:\n%s", next, strings.Join(lines, "\n"))
		}
		at = found
	}
}

// A change without a gain needs no person, as long as it is one of an installed skill from
// the same source.
func TestHarmless(t *testing.T) {
	other := source.Source{Kind: source.Git, Location: "https://github.com/other/repo"}
	for name, change := range map[string]func(*install.Plan, *install.Item){
		"new":          func(_ *install.Plan, i *install.Item) { i.Replaces = nil },
		"grown":        func(_ *install.Plan, i *install.Item) { i.Gained = []surface.Change{{}} },
		"edited":       func(_ *install.Plan, i *install.Item) { i.Edited = []install.Difference{{File: "a"}} },
		"other source": func(_ *install.Plan, i *install.Item) { i.Replaces = &lock.State{Source: other} },
		"suspicious":   func(p *install.Plan, _ *install.Item) { p.Fetched.Notes = []source.Note{{Suspicious: true}} },
		"":             func(*install.Plan, *install.Item) {},
	} {
		p := plan()
		p.Items[0].Replaces = &lock.State{Source: p.Items[0].State.Source}
		change(p, p.Items[0])
		if got := Describe(p, install.Target{Dir: "/data"}).Harmless(); got != (name == "") {
			t.Errorf("%q is harmless: %t", name, got)
		}
	}
}

// The digest covers the source, the content and the capabilities.
func TestDigest(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*install.Plan){
		"as it is":   func(*install.Plan) {},
		"source":     func(p *install.Plan) { p.Items[0].State.Source.Location += "x" },
		"content":    func(p *install.Plan) { p.Items[0].State.Digest = "sha256:13" },
		"path":       func(p *install.Plan) { p.Items[0].Path += "x" },
		"capability": func(p *install.Plan) { p.Items[0].Surface = p.Items[0].Surface[1:] },
	} {
		p := plan()
		change(p)
		digest := Describe(p, install.Target{Dir: "/data"}).Digest
		if other, there := seen[digest]; there {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[digest] = name
	}
}
