package titles

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
)

// TestReadable reads names as words in the spelling of descriptions.
func TestReadable(t *testing.T) {
	for _, test := range []struct{ name, description, want string }{
		{"pdf", "Reads PDF files.", "PDF"},
		{"pdf-tools", "Reads pdf files.", "Pdf tools"},
		{"code-complexity", "Measures the complexity of code.", "Code complexity"},
		{"github-issue", "Opens issues on GitHub.", "GitHub issue"},
		{"slack-gif-creator", "Makes animated GIFs for Slack.", "Slack GIF creator"},
		{"post_to_slack", "Posts to Slack. In slack terms, a message.", "Post to Slack"},
		{"python-style", "Python style. Write it well.", "Python style"},
		{"nextjs-app", "For apps with Next.js.", "Next.js app"},
		{"ios-build", "Builds for iOS and macOS.", "iOS build"},
		{"write-tests-first", "ALWAYS WRITE TESTS FIRST. Then code.", "Write tests first"},
		{"rest-api", "Calls a REST API.", "REST API"},
		{"csv-to-json", "Converts CSV/JSON, and XML.", "CSV to JSON"},
		{"oauth2-flow", "Explains OAuth2.", "OAuth2 flow"},
		{"R-stats", "Statistics.", "R stats"},
		{"xlsx", "Edits .xlsx files of Excel.", "Xlsx"},
		{"ünïcode-größe", "Über Größe, eine Größe.", "Ünïcode Größe"},
		{"数据-分析", "分析数据。", "数据 分析"},
		{"a\u202eb\x1b[31m-c\u200b", "", "Ab c"},
		{"db:fix-it", "Fixes the DB.", "DB: fix it"},
		{"plugin-folder", "In ${MY_PLUGIN_ROOT}.", "Plugin folder"},
		{"---", "", "---"},
		{"\x01", "", "Skill"},
		{"bad", "B\xff BAD\xff", "BAD"},
	} {
		if got := Readable(test.name, test.description); got != test.want {
			t.Errorf("%q, %q: %q, want %q", test.name, test.description, got, test.want)
		}
	}
}

// TestCollisions tells the plugin where several skills have one title, or else the name.
func TestCollisions(t *testing.T) {
	owner := &skills.Skill{Name: "many", DisplayName: "Many Things"}
	all := []*skills.Skill{
		{Name: "deploy"},
		{Name: "deploy", Plugin: "team"},
		{Name: "Deploy", Plugin: "other", DisplayName: "deploy"},
		{Name: "deploy", Prefix: "workspace"},
		{Name: "alone", Plugin: "team"},
		{Name: "x", DisplayName: "Same name"},
		{Name: "y", DisplayName: "Same\u200b  Name"},
		{Name: "same-name", Plugin: "team", Folder: "a"},
		owner,
		{Name: "many__add-pdf", Of: owner, Description: "Adds a PDF."},
		{Name: "many__Extract", Of: owner},
		{Name: "hidden", DisplayName: "\u202e\u200b"},
		{Name: strings.Repeat("long-", 40), Plugin: strings.Repeat("p", 100)},
		{Name: strings.Repeat("long-", 40)},
	}
	want := []string{
		"Deploy", "Deploy (team)", "deploy (other)", "Deploy (workspace)", "Alone",
		"Same name (x)", "Same Name (y)", "Same name (team/a)",
		"Many Things", "Many Things: add PDF", "Many Things: extract", "Hidden",
		"Long long long long long long long… (" + strings.Repeat("p", 37) + "…)", "Long" + strings.Repeat(" long", 14) + " lo…",
	}
	titles := New(all)
	for i, skill := range all {
		if got := titles.Of(skill); got != want[i] {
			t.Errorf("%s: %q, want %q", skill.QualifiedName(), got, want[i])
		}
	}
}

// FuzzOf makes titles of any texts: short lines without hidden characters.
func FuzzOf(f *testing.F) {
	f.Add("pdf-tools", "PDF Tools", "plugin", "Reads PDF.")
	f.Add("a__b", "", "\x00", "\xff\xfeA.B.c 'É")
	f.Fuzz(func(t *testing.T, name, display, plugin, description string) {
		owner := &skills.Skill{Name: name, DisplayName: display, Plugin: plugin, Description: description}
		all := []*skills.Skill{
			owner, {Name: name, Description: description}, {Name: name, Plugin: plugin, Prefix: display},
			{Name: name + "__" + description, Of: owner, Description: display},
		}
		titles := New(all)
		for _, skill := range all {
			got := titles.Of(skill)
			if got == "" || len(got) > Max || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\t\x1b") {
				t.Errorf("%q", got)
			}
			if at, r := skills.FindHidden(got); at >= 0 {
				t.Errorf("%q hides %q", got, r)
			}
		}
	})
}

func BenchmarkNew(b *testing.B) {
	var all []*skills.Skill
	for i := range 10_000 {
		all = append(all, &skills.Skill{Name: fmt.Sprintf("some-skill-%d", i), Plugin: "plugin", Description: strings.Repeat("Some text about PDF. ", 10)})
	}
	for b.Loop() {
		New(all).Of(all[0])
	}
}
