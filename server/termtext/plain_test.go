package termtext

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for given, want := range map[string]string{
		"plain ünï ✓\n\ttext":                  "plain ünï ✓\n\ttext",
		"\x1b[1;31mred\x1b[0m":                 "red",
		"a\x1b]0;title\ab":                     "ab",
		"a\x1b]52;c;Zm9v\x1b\\b":               "ab",
		"a\x1bPq\x1b[1mx\x1b\\b":               "axb",
		"a\u009b2Jb\u009d0;t\u009cc":           "abc",
		"a\x1b(Bb\x1bcd\x1b7e":                 "abde",
		"never ended \x1b]0;title\nnext line":  "never ended \nnext line",
		"half \x1b[3":                          "half ",
		"bell\a back\b del\x7f nul\x00 vt\x0b": "bell back del nul vt",
		"turned \u202eround\u202c \u2066x":     "turned round x",
		"no \xff utf \xc3":                     "no \ufffd utf \ufffd",
		"50%\r51%\r\n":                         "50%\r51%\r\n",
		"\x1b\x1b[1mx":                         "x",
	} {
		if got := Text(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

// A stream is the same text, wherever it is cut.
func FuzzWriter(f *testing.F) {
	for _, seed := range []string{"ünï\x1b[1mx\x1b]0;t\x1b\\✓", "\xe2\x9c", "\xff\xc3\xc3\xbc", "\u009b1m", "a\xf0\x9f\x98\x80b"} {
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		size = max(1, min(size, len(data)))
		var out bytes.Buffer
		w := NewWriter(&out)
		for rest := data; len(rest) > 0; {
			part := rest[:min(size, len(rest))]
			if n, err := w.Write(part); n != len(part) || err != nil {
				t.Fatalf("wrote %d, %v", n, err)
			}
			rest = rest[len(part):]
		}
		got, want := out.String(), Text(string(data))
		if rest := strings.TrimPrefix(want, got); len(w.partial) == 0 && rest != "" || strings.Trim(rest, "\ufffd") != "" || !strings.HasPrefix(want, got) {
			t.Errorf("%q by %d: %q, want %q", data, size, got, want)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) }) {
			t.Errorf("not plain: %q", got)
		}
	})
}

func TestLegible(t *testing.T) {
	for given, want := range map[string]string{
		"a\tb\nc ⚠\ufe0f 👩\u200d💻": "a\tb\nc ⚠\ufe0f 👩\u200d💻", "a\u202eb\u200b\x1b[1m\x00": `a\u202eb\u200b\x1b[1m\x00`, "a\u200db\xff": "a\\u200db\ufffd",
	} {
		if got := Legible(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}
