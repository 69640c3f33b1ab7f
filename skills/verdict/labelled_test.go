package verdict

import (
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skillsmcp/skills-mcp/skills"
)

// labelled returns the skills of the archives that match a pattern, by name.
func labelled(t testing.TB, pattern string) map[string]fstest.MapFS {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives match %s: %v", pattern, err)
	}
	all := map[string]fstest.MapFS{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			name, inside, _ := strings.Cut(f.Name, "/")
			if all[name] == nil {
				all[name] = fstest.MapFS{}
			}
			all[name][inside] = &fstest.MapFile{Data: []byte(visible(string(f.Data))), Mode: 0o644}
		}
	}
	return all
}

var escaped = regexp.MustCompile(`\{\{(U\+([0-9A-F]+)|tags:([^}]*))\}\}`)

// visible returns a text of an archive with the hidden characters that it names, so that
// the archives have none themselves.
func visible(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(match string) string {
		parts := escaped.FindStringSubmatch(match)
		if parts[2] != "" {
			code, _ := strconv.ParseInt(parts[2], 16, 32)
			return string(rune(code))
		}
		return strings.Map(func(r rune) rune { return 0xe0000 + r }, parts[3])
	})
}

func scan(t testing.TB, files fs.FS) []Finding {
	t.Helper()
	found, err := Of(&skills.Skill{Name: "demo", Class: skills.Safe, File: "/skills/demo/SKILL.md", Files: files}, files)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// recall counts the skills with a finding of a severity or above, and returns the names of
// the others.
func recall(t testing.TB, all map[string]fstest.MapFS, severity Severity) (found int, missed []string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if Worst(scan(t, all[name])).AtLeast(severity) {
			found++
		} else {
			missed = append(missed, name)
		}
	}
	return found, missed
}

// TestRecall: the severity that blocks by default finds the plain malicious skills.
func TestRecall(t *testing.T) {
	all := labelled(t, "malicious/*.txtar")
	parts := map[string]map[string]fstest.MapFS{"all": all, "written for": {}, "held out": {}}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		part := "written for"
		if i%3 == 2 { // held out until the rules were first tried: 25 of 28 then
			part = "held out"
		}
		parts[part][name] = all[name]
	}
	parts["families"], parts["varied"] = labelled(t, "families.txtar"), labelled(t, "varied.txtar")
	for _, part := range []string{"all", "written for", "held out", "families", "varied"} {
		found, missed := recall(t, parts[part], Critical)
		t.Logf("%s: %d of %d critical; missed %q", part, found, len(parts[part]), missed)
		if float64(found) < .95*float64(len(parts[part])) {
			t.Errorf("%s: recall %.3f, want .95", part, float64(found)/float64(len(parts[part])))
		}
	}
	if len(all) < 60 {
		t.Errorf("%d labelled skills, want 60", len(all))
	}
}

// TestBlind has sets that somebody wrote who had not seen the rules. Of the 45 malicious
// skills of a and b, 22 and 15 were found at first. The rules were then written with set a
// open, when 28 of set b were found at the first try and 32 at the second, and later with set b
// open, too. Set c came after that: at first, 36 of its 46 malicious skills and 11 of its 13
// obfuscated ones were found, and 7 of its 28 harmless ones, before the rules learned from it.
func TestBlind(t *testing.T) {
	for set, harmless := range map[string]int{"a": 40, "b": 40, "c": 28} {
		for part, want := range map[string]float64{"malicious": .95, "obfuscated": .9} {
			all := labelled(t, "blind/"+set+"/"+part+".txtar")
			found, _ := recall(t, all, Critical)
			t.Logf("%s of set %s: %d of %d", part, set, found, len(all))
			if float64(found) < want*float64(len(all)) {
				t.Errorf("%s of set %s: %d of %d, want %.2f", part, set, found, len(all), want)
			}
		}
		benign(t, "blind/"+set+"/benign.txtar", harmless)
	}
}

// TestHeldOut has the other half of set c, by names in turns. No rule was written with it open,
// and none shall be: it says what the scan finds of skills that nobody has seen.
func TestHeldOut(t *testing.T) {
	for part, want := range map[string]int{"malicious": 32, "obfuscated": 9} {
		all := labelled(t, "heldout/"+part+".txtar")
		if found, _ := recall(t, all, Critical); found < want {
			t.Errorf("%s: %d of %d, and %d before", part, found, len(all), want)
		}
	}
	all := labelled(t, "heldout/benign.txtar")
	if found, _ := recall(t, all, Critical); found > 3 {
		t.Errorf("%d of %d harmless skills are critical, and 3 before", found, len(all))
	}
}

// TestBenign: no harmless skill has a critical finding, however near it is to harm.
func TestBenign(t *testing.T) { benign(t, "benign.txtar", 60) }

func benign(t *testing.T, pattern string, least int) {
	t.Helper()
	all := labelled(t, pattern)
	if len(all) < least {
		t.Errorf("%d skills in %s, want %d", len(all), pattern, least)
	}
	for name, files := range all {
		for _, f := range scan(t, files) {
			if f.Severity == Critical {
				t.Errorf("%s: %s", name, f)
			}
		}
	}
}

// TestObfuscated reports the recall on obfuscated variants: nothing promises any.
func TestObfuscated(t *testing.T) {
	all := labelled(t, "obfuscated.txtar")
	for _, severity := range []Severity{Critical, Warning} {
		found, missed := recall(t, all, severity)
		t.Logf("%s: %d of %d; missed %q", severity, found, len(all), missed)
	}
}
