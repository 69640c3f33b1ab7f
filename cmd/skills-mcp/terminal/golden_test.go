package terminal

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares a text, in which ESC stands for the character, with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, "\x1b", "ESC")
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s, which -update writes:\n%s", file, diff)
	}
}

const skillRows = "NAME\tTOOL\tSOURCE\tCLASS\tKIND\tSTATE\tDESCRIPTION\n" +
	"colony-samples/systemic-vulnerability-scan\tcolony-samples__systemic-vulnerability-scan\textra\tsafe\texecutable\tready\tScans Python code for faults that tend to come in groups.\n" +
	"天気予報\t天気予報\tuser\tmutating\texecutable\tneeds approval\t今日と明日の天気を、選んだ都市について調べて、短い文章で知らせます。\n" +
	"مترجم\tمترجم\tuser\tsafe\tinstructions\tready\tيترجم النصوص من لغة إلى لغة أخرى ويحافظ على تنسيقها الأصلي كما هو.\n" +
	"family-👨‍👩‍👧\tfamily\tsession (untrusted)\tdangerous\texecutable\tunavailable\tscript gone.sh does not exist · Le\u0301on's 🇩🇪 flag\n" +
	"evil\x1b]0;title\a\u202e\tevil\textra\tsafe\tinstructions\tready\t\x1b[31mred\x1b[0m\u009b2J text\n"

const factRows = "name\tcolony-samples/code-complexity\n" +
	"description\tMeasures the McCabe cyclomatic complexity of every function and method in a Python file or folder.\n" +
	"when to use\t今日と明日の天気を選んだ都市について調べて短い文章で知らせるときに使いますが、空白はありません。\n" +
	"class\tdangerous\n" +
	"state\tunavailable: script gone.sh does not exist\n" +
	"file\tbundled:colony-samples/skills/code-complexity/with/a/path/that/is/long/SKILL.md\n" +
	"  FAIL\tthe sandbox does not work\n"

// TestTable lays tables out for terminals of some widths, and for a pipe.
func TestTable(t *testing.T) {
	for _, width := range []int{0, 40, 80, 120} {
		for _, color := range []bool{false, true} {
			s := Screen{Width: width, Color: color && width > 0}
			var out bytes.Buffer
			list := Table{Optional: []string{"TOOL", "KIND", "SOURCE", "CLASS"}}
			if err := list.WriteScreen(&out, s, skillRows); err != nil {
				t.Fatal(err)
			}
			list.Headless = true
			fmt.Fprintln(&out)
			if err := list.WriteScreen(&out, s, skillRows); err != nil {
				t.Fatal(err)
			}
			if strings.Count(out.String(), "NAME") != 1 {
				t.Error("a headless table has headings, or another none")
			}
			out.Truncate(bytes.Index(out.Bytes(), []byte("\n\n")) + 2)
			facts := Table{Facts: true}
			if err := facts.WriteScreen(&out, s, factRows); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if n := Width(plain(strings.TrimSuffix(line, "\n"))); width > 0 && n > width && !strings.Contains(line, "/") {
					t.Errorf("%d columns, more than %d: %q", n, width, line)
				}
			}
			golden(t, fmt.Sprintf("table-%d-%t", width, s.Color), out.String())
		}
	}
}

// plain removes the control sequences of styles.
func plain(text string) string {
	var out strings.Builder
	for i, part := range strings.Split(text, "\x1b[") {
		if _, rest, found := strings.Cut(part, "m"); i > 0 && found {
			part = rest
		}
		out.WriteString(part)
	}
	return out.String()
}

const markdownText = "# Title with `code` & <b>HTML</b> &lt;entity&gt; &#27;[2J\n\nA paragraph with *emphasis*, **strong words**, a [link](https://example.com/a \"t\"), <https://example.org>,\nand an ![image](a.png) that is\x1b]0;t\a long enough to be wrapped. Hard  \nbreak. 今日と明日の天気を選んだ都市について調べて短い文章で知らせます。\n\n" +
	"## Lists\n\n- one\n- two **bold**\n  - nested and rather long so that it has to be wrapped onto another line of text\n-\n\n1. first\n\n   with a second paragraph\n2. second\n\n> a quote\n> of two lines\n>\n> - with a list\n\n```python\ndef f(x):  # a long line that is code is not wrapped even where it does not fit on the screen\n    return x\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n<div onclick=\"x\">\nraw\n</div>\n\nEnd, snake_case_name and 2 * 3 \\* 4.\n"

// TestMarkdown renders instructions.
func TestMarkdown(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		for _, color := range []bool{false, true} {
			s := Screen{Width: width, Color: color}
			golden(t, fmt.Sprintf("markdown-%d-%t", width, color), s.Markdown(markdownText))
		}
	}
}
