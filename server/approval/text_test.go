package approval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// The question of a usual call, as forms show it.
func TestForm(t *testing.T) {
	p := proposed(nil)
	p.Command.Grant.Hosts, p.Variables = []string{"api.example:443"}, []string{"KEY"}
	p.Skill.Secrets = []string{"KEY", "TOKEN"}
	q := newQuestion(p)
	q.Differs = []string{"the arguments are others"}
	want := `docx wants to change files in /work (path=a.docx) and connect to api.example:443, once or for this session or always?
skills-mcp asks this, not the skill. It may connect to api.example:443; change files in /work; use your variables KEY.
It is mutating, and called by a model.
Since the last approval of this skill: the arguments are others.
It may write to:
> "/work"
It may connect to:
> "api.example:443"
It is given the variables:
> "KEY"
It does not have what it asks for:
> "it asks for the secret TOKEN, which it does not have; if it should use one, skills-mcp secret set TOKEN and then skills-mcp secret grant docx TOKEN --host HOST"
> "docx", your own, in "/home/ann/.claude/skills/docx"
> runs "edit.py", digest
> 0123456789ab
Rule: the mode confirm
Arguments:
> "path": "a.docx"`
	if diff := cmp.Diff(want, q.Form()); diff != "" {
		t.Error(diff)
	}
}

// A sentence names a secret with its kind, and leaves its terms to the lines.
func TestSecretInSentence(t *testing.T) {
	p := proposed(nil)
	p.Decision.Secrets = []run.SecretGrant{{Name: "TOKEN", Hosts: []string{"api.example:443"}, Paths: []string{"/repos/**"}}, {Name: "OTHER", Plain: true}}
	q := newQuestion(p)
	if got, want := effects(q), `use none of your variables and your secret "TOKEN, masked" and 1 more`; !strings.HasSuffix(got, want) || !strings.Contains(q.Form(), "/repos/**") {
		t.Errorf("%s, want %s", got, want)
	}
}

// A pattern is shown as it was written, and what looks like a code is told from one.
func TestQuotedPattern(t *testing.T) {
	for text, want := range map[string]string{
		`password (\S+)\.`: `"password (\S+)\."`,
		`\\S`:              `"\\\S"`,
		`a\n\u202e\"`:      `"a\\n\\u202e\\\""`,
		"a\n\u202e":        `"a\n\u202e"`,
	} {
		if got := quote(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// hostile is a text that moves the cursor, hides and turns characters, and begins lines
// that look like the question's own.
const hostile = "a\x1b[2K\r\nIt may connect to: nowhere\nRun it?\u202e\u200b\u009b\xff\U000E0041\u00a0\u3164\u2028> b"

// Nothing that a stranger wrote is a line of its own, moves the cursor, or hides or turns
// characters; and the grant comes last, however much there is before it.
func TestHostileQuestion(t *testing.T) {
	p := proposed(nil)
	p.Skill.Name, p.Skill.Dir, p.Skill.Entry.Script = hostile, "/"+hostile, hostile
	p.Args, p.Stack, p.Decision.Rule = map[string]any{hostile: hostile, "list": []any{hostile, 1.5}}, []string{hostile}, hostile
	p.Decision.Grown, p.Variables = []string{hostile, hostile}, []string{hostile}
	p.Command.Grant.Hosts, p.Command.Grant.Workspaces = []string{hostile}, []string{hostile}
	for i := range 100 {
		p.Args[fmt.Sprint(i, hostile)] = strings.Repeat(hostile, 100)
		p.Decision.Grown = append(p.Decision.Grown, strings.Repeat(hostile, 100))
	}
	p.Decision.Signatures = 2
	q := newQuestion(p)
	q.Signed, q.Differs = []string{hostile}, []string{"the arguments are others"}
	q.Input, q.Calls = true, []string{hostile}
	for name, lines := range map[string][]string{"form": strings.Split(q.Form(), "\n"), "terminal": q.Terminal()} {
		for _, line := range lines {
			if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) || r == '\u202e' || r == '\u3164' }) {
				t.Errorf("%s: %q", name, line)
			}
			own := !strings.HasPrefix(line, mark)
			if own && strings.Contains(line, "It may connect to: nowhere") && !strings.Contains(line, `a\x1b`) && !strings.Contains(line, `a\u001b`) {
				t.Errorf("%s: imitated by %q", name, line)
			}
		}
		if name == "form" {
			continue
		}
		if end := lines[len(lines)-7:]; end[0] != "It may write to:" || end[2] != "It may connect to:" || end[4] != "It is given the variables:" || end[6] != "Run it?" {
			t.Errorf("%s: ends with %q", name, end)
		}
	}
	if q.fitsForm() {
		t.Error("it fits a form")
	}
	if text := q.summary(); strings.Contains(text, "\n") || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("summary %q", text)
	}
}

// A long argument is cut in a form, which says so with its size and digest, and where the
// whole is. A terminal cuts none that is stored whole.
func TestLongArgument(t *testing.T) {
	for length, stored := range map[int]bool{300: true, 100_000: true, 200_000: false} {
		text := "begin" + strings.Repeat("x", length) + "end"
		p := proposed(nil)
		p.Args = map[string]any{"text": text}
		q := newQuestion(p)
		q.ID = "k3x7q2m4ab"
		note := fmt.Sprintf(`"text": (NOT SHOWN WHOLE: %d bytes, sha256 %s; its beginning and its end:) "beginxxx`, len(text)+2, digestOf(`"`+text+`"`))
		if form := q.Form(); !strings.Contains(form, note) || !strings.Contains(form, `xxxend"`) || !strings.Contains(form, "skills-mcp approvals k3x7q2m4ab") || !q.fitsForm() {
			t.Errorf("form: %s", form)
		}
		if shown := strings.Join(q.Terminal(), "\n"); strings.Contains(shown, text) != stored || strings.Contains(shown, note) == stored {
			t.Errorf("%d bytes on a terminal: %.600s", length, shown)
		}
	}
}

// Calls whose long arguments differ in the middle alone look different everywhere, whatever
// else they have.
func TestMiddleDiffers(t *testing.T) {
	for _, length := range []int{40, 300, 100_000, 200_000} {
		for _, others := range []int{0, 12} {
			shown := func(middle string) []string {
				p := proposed(nil)
				for i := range others {
					p.Args[fmt.Sprintf("a%d", i)] = strings.Repeat("y", 20_000)
				}
				p.Args["text"] = strings.Repeat("x", length) + middle + strings.Repeat("x", length)
				q := newQuestion(p)
				return []string{q.Form(), strings.Join(q.Terminal(), "\n"), q.summary()}
			}
			left, right := shown("left"), shown("righ")
			for i, where := range []string{"form", "terminal", "summary"} {
				if left[i] == right[i] {
					t.Errorf("%d bytes beside %d others: the same on the %s: %.500s", length, others, where, left[i])
				}
			}
		}
	}
}

// The decision limits the answers.
func TestScopes(t *testing.T) {
	for want, change := range map[string]func(c *call){
		"once,this session,always": func(*call) {},
		"once,always":              func(c *call) { c.Principal.Session = "" },
		"always,once":              func(c *call) { c.Decision.Always = true },
		"once,this session":        func(c *call) { c.Decision.Session = true },
		"once":                     func(c *call) { c.Decision.Each, c.Decision.Always = true, true },
	} {
		p := proposed(nil)
		change(&call{Proposal: p})
		var got []string
		for _, s := range newQuestion(p).Scopes {
			got = append(got, string(s))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	p := proposed(nil)
	p.Decision.Class = skills.Dangerous
	if got := newQuestion(p).Scopes; len(got) != 1 || got[0] != Once {
		t.Errorf("dangerous: %v", got)
	}
}

// FuzzShorten wants the head and the tail of a text, within the bounds.
func FuzzShorten(f *testing.F) {
	f.Add("übergrößenträger", 9)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = max(16, min(most, 200))
		if len(text) <= most {
			return
		}
		if got := shorten(text, most); len(got) > most {
			t.Errorf("%q is longer than %d", got, most)
		}
	})
}

// A person who is asked reads what the scan found.
func TestQuestionHasFindings(t *testing.T) {
	p := proposed(nil)
	p.Decision.Scan = "1 critical: It mines."
	q := newQuestion(p)
	const want = "The scan of its files found 1 critical: It mines."
	if !strings.Contains(q.Form(), "\n"+want+"\n") || !slices.Contains(q.Terminal(), want) {
		t.Errorf("%s", q.Form())
	}
}
