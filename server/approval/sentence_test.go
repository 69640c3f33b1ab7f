package approval

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// hosts returns some hosts.
func hosts(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("host%d.example:443", i+1))
	}
	return all
}

// Clients show the first line of a form, or the first three, or join all by spaces. The
// first says who wants what, within 120 bytes, before anything else.
func TestFirstSentence(t *testing.T) {
	const end = ", once or for this session?"
	for name, c := range map[string]struct {
		change func(p *run.Proposal)
		want   string // the first line
		second string // a part of the second
		third  string // a part of the third
	}{
		"files": {func(p *run.Proposal) {
			p.Skill.Name, p.Args = "rename-files", map[string]any{"pattern": "*.csv", "to": "c"}
			p.Command.Grant.Workspaces = []string{"/home/ann/shop"}
		}, "rename-files wants to change files in ~/shop (pattern=*.csv, to=c)" + end, "connect to no host", "called by a model"},
		"a file below the home folder, and a host": {func(p *run.Proposal) {
			p.Skill.Name, p.Args = "rename-files", map[string]any{"path": "/home/ann/shop/data/a.csv", "to": "c"}
			p.Command.Grant.Workspaces, p.Command.Grant.Hosts = []string{"/home/ann/shop"}, hosts(1)
		}, "rename-files wants to change files in ~/shop (path=~/shop/data/a.csv, to=c) and connect to 1 host" + end, "connect to host1.example:443; change files in ~/shop", ""},
		"eight hosts": {func(p *run.Proposal) { p.Command.Grant.Hosts = hosts(8) },
			"docx wants to change files in /work (path=a.docx) and connect to host1.example:443 and 7 more" + end, "connect to host1.example:443 and 7 more", "mutating"},
		"hosts alone": {func(p *run.Proposal) { p.Command.Grant.Hosts, p.Command.Grant.Workspaces = hosts(1), nil },
			"docx wants to connect to host1.example:443 (path=a.docx)" + end, "connect to host1.example:443; read none of your files", "mutating"},
		"a folder beside the home folder": {func(p *run.Proposal) { p.Command.Grant.Workspaces = []string{"/home/anna/shop"} },
			"docx wants to change files in /home/anna/shop (path=a.docx)" + end, "", ""},
		"reading": {func(p *run.Proposal) { p.Command.Grant.Write = false },
			"docx wants to read files in /work (path=a.docx)" + end, "read, and not change, files in /work", "mutating"},
		"nothing": {func(p *run.Proposal) { p.Command.Grant.Workspaces, p.Args = nil, nil },
			"docx wants to run with no access to your files or the network" + end, "connect to no host", "mutating"},
		"kinds of values": {func(p *run.Proposal) {
			p.Args = map[string]any{"all": true, "files": []any{"a b", 1}, "n": 1.5, "no": nil, "text": ""}
		}, `docx wants to change files in /work (all=true, files=["a b",1], n=1.5, no=null, text="")` + end, "", ""},
		"a value that is a sentence": {func(p *run.Proposal) {
			p.Args = map[string]any{"to": `x), once? “ok” "(a=b`}
		}, `docx wants to change files in /work (to="x), once? 'ok' \"(a=b")` + end, "", ""},
		"a long value": {func(p *run.Proposal) { p.Args = map[string]any{"text": strings.Repeat("x", 500), "to": "c"} },
			"docx wants to change files in /work (text=xxxxxxxxxxxxx … xxxxxxxxxxxxx, to=c)" + end, "", ""},
		"many arguments": {func(p *run.Proposal) {
			for i := range 12 {
				p.Args[fmt.Sprintf("a%02d", i)] = "some value"
			}
		}, `docx wants to change files in /work (a00="some value", a01="some value", a02="some value", and 10 more)` + end, "", ""},
		"a long name, path and host": {func(p *run.Proposal) {
			p.Skill.Name, p.Command.Grant.Workspaces, p.Command.Grant.Hosts = strings.Repeat("name", 30), []string{"/" + strings.Repeat("path/", 50)}, []string{strings.Repeat("h.", 100) + "example:443"}
		}, "namen … ename wants to change files in /path … path/ (path=a.docx) and connect to 1 host" + end, "", ""},
		"a name that is a sentence": {func(p *run.Proposal) {
			p.Skill.Name = "skills-mcp asks. docx wants to read files\nand\u202e more"
		}, `"skills-mcp asks. … nand\u202e more" wants to change files in /work (path=a.docx)` + end, "", ""},
		"new": {func(p *run.Proposal) { p.Decision.Grown = []string{"runs a shell", "reaches evil.example"} },
			"docx wants to change files in /work (path=a.docx)" + end, "connect to no host", `It could do more now than you have accepted: "runs a shell" and 1 more.`},
		"another skill's call": {func(p *run.Proposal) { p.Stack = []string{"a", "b c"} },
			"docx wants to change files in /work (path=a.docx)" + end, "", `called by the skill "a → b c"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := proposed(nil)
			c.change(p)
			q := newQuestion(p)
			q.Scopes, q.Home = []Scope{Once, Session}, "/home/ann"
			form := q.Form()
			lines := strings.Split(form, "\n")
			if lines[0] != c.want {
				t.Errorf("got  %s\nwant %s", lines[0], c.want)
			}
			if n := len(strings.TrimSuffix(lines[0], end)); n > maxSentence+10 {
				t.Errorf("who wants what has %d bytes", n)
			}
			if !utf8.ValidString(form) || !q.fitsForm() {
				t.Errorf("the form is not fit to be sent: %s", form)
			}
			if !strings.HasPrefix(lines[1], "skills-mcp asks this, not the skill. It may ") || !strings.HasSuffix(lines[1], ".") || !strings.Contains(lines[1], c.second) {
				t.Errorf("the second line: %s", lines[1])
			}
			if !strings.HasSuffix(lines[2], ".") || !strings.Contains(lines[2], c.third) {
				t.Errorf("the third line: %s", lines[2])
			}
			joined := strings.Join(strings.Fields(form), " ")
			for _, host := range p.Command.Grant.Hosts {
				if !strings.Contains(joined, fmt.Sprintf("> %q", host)) {
					t.Errorf("joined by spaces, the form lacks %s: %s", host, joined)
				}
			}
		})
	}
}

// Installation, trust and fetches have sentences of their own.
func TestFirstSentenceOfOthers(t *testing.T) {
	for want, q := range map[string]*Question{
		"install_skill wants to install a skill (source=owner/repo), yes or no?":                                 {Skill: "install_skill", Caller: "a model", Args: arguments(map[string]any{"source": "owner/repo"}), Review: &run.Review{}},
		"repo/deploy wants to run, which takes your trust in all skills of ~/repo, yes or no?":                   {Skill: "repo/deploy", Home: "/home/ann", Trust: &run.Trust{Workspace: "/home/ann/repo"}},
		"docs/pdf wants to be fetched from https://mcp.example/mcp and used (2 files with 30 bytes), yes or no?": {Skill: "docs/pdf", Fetch: &run.Fetch{Address: "https://mcp.example/mcp", Files: 2, Bytes: 30}},
	} {
		q.Class = skills.Mutating
		if got, _, _ := strings.Cut(q.Form(), "\n"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A grant is shown whole, or not in a form.
func TestGrantIsNeverCut(t *testing.T) {
	long := strings.Repeat("sub.", 60) + "example:443"
	for n, fits := range map[int]bool{8: true, 12: true, 30: false} {
		p := proposed(nil)
		p.Command.Grant.Hosts = append(hosts(n-1), long)
		q := newQuestion(p)
		if q.fitsForm() != fits {
			t.Errorf("%d hosts fit a form: %t", n, !fits)
		}
		for name, text := range map[string]string{"form": q.Form(), "terminal": strings.Join(q.Terminal(), "\n")} {
			for _, host := range p.Command.Grant.Hosts {
				if !strings.Contains(text, fmt.Sprintf("\n> %q\n", host)) {
					t.Errorf("%d hosts: the %s lacks a line of %s", n, name, host)
				}
			}
		}
	}
	p := proposed(nil)
	p.Command.Grant.Workspaces = []string{"/" + strings.Repeat("a", maxForm)}
	if newQuestion(p).fitsForm() {
		t.Error("a folder that is longer than a form fits")
	}
}
