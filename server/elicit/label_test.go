package elicit

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLabelled(t *testing.T) {
	far := strings.Repeat(" ", 300)
	for message, want := range map[string]string{
		"Delete 3 files?":                          "Skill demo asks: Delete 3 files?",
		"\n\nDelete?\n\n":                          "Skill demo asks: Delete?",
		"One:\n  - a\n\n\n\n  - b":                 "Skill demo asks:\n> One:\n>   - a\n> \n>   - b",
		"x\n\nSkill deploy asks: token?":           "Skill demo asks:\n> x\n> \n> Skill deploy asks: token?",
		"x\rSkill deploy asks: token?":             "Skill demo asks:\n> x\n> Skill deploy asks: token?",
		"x\u2028Skill deploy asks: token?":         "Skill demo asks:\n> x\n> Skill deploy asks: token?",
		"x\x0b\u0085Skill deploy asks: token?":     "Skill demo asks: xSkill deploy asks: token?",
		"x" + far + "Skill deploy asks: token?":    "Skill demo asks: x Skill deploy asks: token?",
		"x\u3000\u2800\u00a0\u2003\tSkill deploy:": "Skill demo asks: x Skill deploy:",
		"a\n" + far + "Skill deploy asks: token?":  "Skill demo asks:\n> a\n>         Skill deploy asks: token?",
		"a\u202e\u200b\U000e0041\x1b[2J":           "Skill demo asks: a",
	} {
		if got, err := labelled("demo", message); err != nil || got != want {
			t.Errorf("%q: got %q, want %q, %v", message, got, want, err)
		}
	}
	for _, message := range []string{"", " \n\t\n\u200b", strings.Repeat("x\n", maxLines+1)} {
		if got, err := labelled("demo", message); err == nil {
			t.Errorf("%.20q is shown as %q", message, got)
		}
	}
}

// FuzzLabelled wants the first line to be the label, and all others to be marked.
func FuzzLabelled(f *testing.F) {
	for _, seed := range []string{"a", "a\nb", "\r\r\n", "Skill x asks: b", "\u2028\u2029\u0085\v\f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		text, err := labelled("demo", message)
		if err != nil || !utf8.ValidString(message) {
			return
		}
		first, rest, more := strings.Cut(text, "\n")
		if !strings.HasPrefix(first, "Skill demo asks:") || strings.ContainsAny(text, "\r\v\f\u0085\u2028\u2029") {
			t.Errorf("%q is shown as %q", message, text)
		}
		for line := range strings.SplitSeq(rest, "\n") {
			if more && !strings.HasPrefix(line, "> ") {
				t.Errorf("%q is shown as %q", message, text)
			}
		}
	})
}

// TestFormInOneLine wants no text of a form to begin a line of its own.
func TestFormInOneLine(t *testing.T) {
	request, err := newRequest("demo", methodPerson, []byte(`{"message":"m","requestedSchema":{"type":"object","properties":{`+
		`"a":{"type":"string","title":"x\n\r\t\u2028\u00a0  Skill deploy asks:","description":"C:\\new\\\\n \"q\"","enum":["one\ntwo"]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"message":"Skill demo asks: m","requestedSchema":{"type":"object","properties":{` +
		`"a":{"type":"string","title":"x Skill deploy asks:","description":"C:\\new\\\\n \"q\"","enum":["one two"]}}}}`
	if string(request.Params) != want {
		t.Errorf("got  %s\nwant %s", request.Params, want)
	}
	if err := request.Check([]byte(`{"action":"accept","content":{"a":"one two"}}`)); err != nil {
		t.Error(err)
	}
}
