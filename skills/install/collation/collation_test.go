package collation

import (
	"slices"
	"testing"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// names are of the scripts that file names are most often in.
var names = []string{
	"SKILL.md", "scripts/run.sh", "scripts/run_all.sh", "scripts/run-all.sh", "Scripts/x", "scripts.md", "a", "A", "aa", "Ab", "B", "b", "1", "10", "2", "_x", ".x", "~x", "$x", "x y", "x'y",
	"é", "e", "E", "f", "résumé.md", "resume.md", "resume2.md", "Äpfel", "Apfel", "apfelmus", "ñandú", "nandu",
	"я", "а", "Б", "б", "отчёт.md", "отчет.md", "α", "β", "Ω", "報告.md", "说明.md", "一.md", "メモ.md", "z", "日本.md",
}

// Names are ordered as the Unicode collation algorithm does.
func TestCompare(t *testing.T) {
	exact := collate.New(language.English)
	for _, a := range names {
		for _, b := range names {
			if got, want := Compare(a, b), exact.CompareString(a, b); got != want {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
		}
	}
	if sorted := slices.SortedFunc(slices.Values([]string{"b", "B", "a"}), Compare); !slices.Equal(sorted, []string{"a", "b", "B"}) {
		t.Error(sorted)
	}
}

// TestOrderOfNames: the order of localeCompare in Node 22, which the hashes of the skills
// tool and ClawHub depend on.
func TestOrderOfNames(t *testing.T) {
	sorted := []string{"a", "A", "a b", "a_b", "a-b", "a.b", "a/b", "ab", "aB", "Ab", "ab-c", "ab/c", "abc.md"}
	for i := range sorted {
		for j := range sorted {
			if got := Compare(sorted[i], sorted[j]); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("compare %q with %q: %d", sorted[i], sorted[j], got)
			}
		}
	}
}

// It is exact for ASCII.
func FuzzCompare(f *testing.F) {
	f.Add("SKILL.md", "scripts/run.sh")
	f.Add("a-b", "a_b")
	f.Add("a\x00b", "ab")
	f.Add("$~", "~$")
	exact := collate.New(language.English)
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, text := range []string{a, b} {
			for _, c := range []byte(text) {
				if c >= 0x7f {
					t.Skip()
				}
			}
		}
		if got, want := Compare(a, b), exact.CompareString(a, b); got != want {
			t.Errorf("%q and %q: %d, want %d", a, b, got, want)
		}
	})
}
