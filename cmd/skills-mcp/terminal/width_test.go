package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "ünï": 3, "u\u0308": 1, "天気": 4, "ｆ": 2, "한글": 4, "\u1112\u1161\u11ab": 2,
		"مترجم": 5, "👍": 2, "👍🏽": 2, "👨‍👩‍👧": 2, "🇩🇪": 2, "🇩🇪🇫🇷": 4, "❤️": 2, "❤": 1, "…": 1, "─": 1, "e\u0301\u0323x": 2, "\u0301": 0,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text    string
		columns int
		want    string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"ab cd", 4, "ab…"}, {"天気予報", 5, "天気…"}, {"天気予報", 4, "天…"},
		{"👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"}, {"abc", 1, "…"}, {"مترجم", 3, "مت…"},
	} {
		if got := Cut(test.text, test.columns); got != test.want {
			t.Errorf("%q in %d: %q, want %q", test.text, test.columns, got, test.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"", 5, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"a  b", 5, []string{"a  b"}},
		{"a/path/is/whole x", 5, []string{"a/path/is/whole", "x"}},
		{"今日と明日", 5, []string{"今日", "と明", "日"}},
		{"今", 1, []string{"今"}},
	} {
		if diff := cmp.Diff(test.want, Wrap(test.text, test.columns)); diff != "" {
			t.Errorf("%q in %d:\n%s", test.text, test.columns, diff)
		}
	}
}

// FuzzCut wants cut texts to fit, and to begin as the text does.
func FuzzCut(f *testing.F) {
	f.Add("👨‍👩‍👧 天気 e\u0301 مترجم 🇩🇪", 7)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = max(1, min(columns, 200))
		got := Cut(text, columns)
		if Width(got) > columns {
			t.Errorf("%q has %d columns, more than %d", got, Width(got), columns)
		}
		if head, cut := strings.CutSuffix(got, "…"); cut && !strings.HasPrefix(text, head) {
			t.Errorf("%q does not begin as %q", got, text)
		}
		if middle := CutMiddle(text, columns); Width(middle) > columns || utf8.ValidString(text) && !utf8.ValidString(middle) {
			t.Errorf("%q in %d columns: %q", text, columns, middle)
		}
		for _, line := range Wrap(text, columns) {
			if strings.Contains(line, "\n") && !strings.Contains(text, "\n") {
				t.Errorf("%q", line)
			}
		}
	})
}
