package approval

import (
	"fmt"
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
	q := newQuestion(p)
	q.Differs = []string{"the arguments are others"}
	want := `skills-mcp itself asks, no skill does: may this skill run?
It is mutating, and called by a model.
> "docx", your own, in "/home/ann/.claude/skills/docx"
> runs "edit.py", digest
> 0123456789ab
Rule: the mode confirm
Arguments:
> "path": "a.docx"
Since the last approval of this skill: the arguments are others.
It may write to:
> "/work"
It may connect to:
> "api.example:443"
It is given the variables:
> "KEY"
Run it?`
	if diff := cmp.Diff(want, q.Form()); diff != "" {
		t.Error(diff)
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
	trust := *q
	trust.Trust = &run.Trust{Workspace: hostile, Changes: q.Grown}
	if n := strings.Count(trust.Form(), "\n") + 1; n > 32 {
		t.Errorf("the form that asks for trust has %d lines", n)
	}
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
		if end := lines[len(lines)-7:]; end[0] != "It may write to:" || end[2] != "It may connect to:" || end[4] != "It is given the variables:" || end[6] != "Run it?" {
			t.Errorf("%s: ends with %q", name, end)
		}
	}
	if n := strings.Count(q.Form(), "\n") + 1; n > 32 {
		t.Errorf("the form has %d lines", n)
	}
	if n := len(q.Form()); n > 12<<10 {
		t.Errorf("the form has %d bytes", n)
	}
	if text := q.summary(); strings.Contains(text, "\n") || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("summary %q", text)
	}
}

// A long argument is shown by its head and tail, and says so with its size and digest.
func TestLongArgument(t *testing.T) {
	text := "begin" + strings.Repeat("x", 100_000) + "end"
	p := proposed(nil)
	p.Args = map[string]any{"text": text}
	q := newQuestion(p)
	for name, shown := range map[string]string{"form": q.Form(), "terminal": strings.Join(q.Terminal(), "\n")} {
		want := fmt.Sprintf(`"text": (NOT SHOWN WHOLE: %d bytes, sha256 %s; its beginning and its end:) "beginxxx`, len(text)+2, digestOf(`"`+text+`"`))
		if !strings.Contains(shown, want) || !strings.Contains(shown, `xxxend"`) {
			t.Errorf("%s: %.600s", name, shown)
		}
	}
	p.Args = map[string]any{"text": strings.Repeat("y", 5000)}
	if shown := strings.Join(newQuestion(p).Terminal(), "\n"); !strings.Contains(shown, strings.Repeat("y", 5000)) {
		t.Error("the terminal shows it shortened")
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
