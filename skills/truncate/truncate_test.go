package truncate

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestString(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		"short":               "short",
		"exactly 10":          "exactly 10",
		"longer than ten":     "longer…",
		"a word  and another": "a word…",
		"umlaute: ä":          "umlaute…",
		"ääääääää":            "äää…",
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80": mark,
	} {
		if got := String(text, 10); got != want {
			t.Errorf("String(%q) is %q, want %q", text, got, want)
		}
	}
}

func FuzzString(f *testing.F) {
	f.Add("a text of some words", 10)
	f.Add("ää  ää", 7)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < len(mark) {
			return
		}
		got := String(text, limit)
		if len(got) > limit || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("String(%q, %d) is %q", text, limit, got)
		}
		if kept, cut := strings.CutSuffix(got, mark); cut && got != text && !strings.Contains(text, kept) {
			t.Errorf("String(%q, %d) is %q", text, limit, got)
		}
	})
}
