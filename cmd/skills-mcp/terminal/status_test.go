package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/scriptio"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

func TestBar(t *testing.T) {
	for _, test := range []struct {
		message string
		columns int
		want    string
	}{
		{"pulling a: 12 of 48 MB", 79, "pulling a [##        ] 12 of 48 MB"},
		{"pulling a: 48 of 48 MB", 79, "pulling a [##########] 48 of 48 MB"},
		{"pulling a: 60 of 48 MB", 79, "pulling a [##########] 60 of 48 MB"},
		{"pulling a: 0 of 0 MB", 79, "pulling a [          ] 0 of 0 MB"},
		{"a: b: 1.5 of 3", 79, "a: b [#####     ] 1.5 of 3"},
		{"a: NaN of 3", 79, "a: NaN of 3"},
		{"天気天気天気天気: 3 of 10", 30, "天気天気… [###       ] 3 of 10"},
		{"pulling registry.example.com/a/long/name: 1200 of 4800 MB", 39, "pulling r… [##        ] 1200 of 4800 MB"},
		{"pulling a: 1200 of 4800 MB", 20, "… [##        ] 1200…"},
		{"unpacking registry.example.com/a/long/name:1.2", 39, "unpacking registry.example.com/a/long/…"},
		{"waiting\x1b[2J\nfor you", 39, "waiting for you"},
	} {
		got := Bar(test.message, test.columns)
		if got != test.want {
			t.Errorf("%q in %d columns: %q, want %q", test.message, test.columns, got, test.want)
		}
		if Width(got) > test.columns {
			t.Errorf("%q does not fit %d columns", got, test.columns)
		}
	}
}

// newStatus returns a status line on a file, and a function that returns what was written.
func newStatus(t testing.TB) (*Status, func() string) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return NewStatus(file), func() string {
		written, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(written)
	}
}

// TestStatus has other output erase the line, and draws over none that has not ended.
func TestStatus(t *testing.T) {
	s, written := newStatus(t)
	beside := s.Beside(s.file)
	fmt.Fprint(s, "before\n")
	s.Show("one")
	s.Show("two")
	fmt.Fprint(beside, "half")
	s.Show("three")
	fmt.Fprint(s, " whole\n")
	s.Show("four")
	s.Show("")
	s.Show("")
	want := "before\n\r\x1b[Jone\r\r\x1b[Jtwo\r\r\x1b[J\rhalf whole\n\r\x1b[Jfour\r\r\x1b[J\r"
	if got := written(); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

// TestProgress draws lines of progress, and writes all others.
func TestProgress(t *testing.T) {
	for output, want := range map[string]string{
		"plain\ntext":                         "plain\ntext",
		"1/2 half\ntext\n2/2\n":               "<half [#####     ] 1 of 2><>text\n<skill [##########] 2 of 2><>",
		"1/2 half\r\n2/2\r\n":                 "<half [#####     ] 1 of 2><skill [##########] 2 of 2><>",
		"10%\r20%\r\n":                        "10%\r20%\r\n",
		"1) choose: ":                         "1) choose: ",
		"12":                                  "12",
		"3/4":                                 "",
		"1/0 x\n2/1\n1/2/3\n\n /2\n":          "1/0 x\n2/1\n1/2/3\n\n /2\n",
		"text 1/2\n2/2 \x1b[31mred\u202e\n":   "text 1/2\n<red [##########] 2 of 2><>",
		"no end\x1b[2J1/2\n":                  "no end1/2\n",
		"1/2 " + strings.Repeat("x", maxStep): "1/2 " + strings.Repeat("x", maxStep),
	} {
		for _, size := range []int{1, 3, 1 << 20} {
			s, written := newStatus(t)
			p := NewProgress("skill", s)
			for rest := output; rest != ""; {
				n := min(size, len(rest))
				if _, err := io.WriteString(p, rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			got := strings.NewReplacer("\r\x1b[J\r", "<>", "\r\x1b[J", "<").Replace(written())
			if got = ended.Replace(got); got != want {
				t.Errorf("%q by %d: wrote %q, want %q", output, size, got, want)
			}
		}
	}
}

// ended shows where a drawing ends.
var ended = strings.NewReplacer(" of 2\r", " of 2>", " of 4\r", " of 4>")

// FuzzProgress wants all that is no progress on the terminal, wherever it is cut.
func FuzzProgress(f *testing.F) {
	for _, seed := range []string{"a\n1/2\nb", "12\r\n3/4 x\r\n", "ünï\x1b[1m 1/2\n", "\n\r1"} {
		f.Add([]byte(seed), 2)
	}
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		size = max(1, min(size, len(data)))
		s, written := newStatus(t)
		p := NewProgress("", s)
		for rest := data; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if n, err := p.Write(rest[:min(size, len(rest))]); err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		got := written()
		if !strings.Contains(got, "\x1b[J") {
			rest := strings.TrimPrefix(termtext.Text(withoutProgress(string(data))), got)
			if strings.Trim(rest, "\ufffd") != "" {
				t.Errorf("%q by %d: lost %q of %q", data, size, rest, got)
			}
		}
		if strings.Contains(strings.ReplaceAll(got, "\x1b[J", ""), "\x1b") {
			t.Errorf("%q: control sequences in %q", data, got)
		}
	})
}

// withoutProgress returns a text without its lines of progress, and their ends.
func withoutProgress(text string) string {
	var kept strings.Builder
	for text != "" {
		line, rest := text, ""
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			line, rest = text[:i], text[i:]
		}
		end := rest[:min(1, len(rest))]
		_, counts := scriptio.ParseProgress(line)
		counts = counts && mayCount(line) && len(line) <= maxStep
		if counts && strings.HasPrefix(rest, "\r\n") {
			end = "\r\n"
		}
		if !counts {
			kept.WriteString(line + end)
		}
		text = rest[len(end):]
	}
	return kept.String()
}
