package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A new skill loads without a problem, can be run, and has of the standard's
// rules only its own keys against it.
func TestNewSkillIsFine(t *testing.T) {
	for _, language := range Languages() {
		t.Run(language, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "skills")
			files, err := Write(dir, "my-skill", language)
			if err != nil {
				t.Fatal(err)
			}
			catalog, err := scan.Scan(t.Context(), []scan.Root{{Dir: dir}}, nil)
			if err != nil || len(catalog.Skills) != 1 || len(catalog.Problems) > 0 {
				t.Fatalf("skills %v, problems %v, error %v", catalog.Skills, catalog.Problems, err)
			}
			skill := catalog.Skills[0]
			if skill.Name != "my-skill" || skill.Entry == nil || skill.Unavailable != "" || len(skill.Entry.Params()) != 3 {
				t.Errorf("skill %+v", skill)
			}
			if _, changes := check.Fix(files[0].Data, true); len(changes) > 0 {
				t.Errorf("%s could be mended: %v", files[0].Name, changes)
			}
			own := []string{"script", "params", "sandbox_image_role"}
			for _, f := range check.Standard(files[0].Data, "my-skill") {
				if !slices.Contains(own, f.Key) {
					t.Errorf("line %d: %s", f.Line, f.Message)
				}
			}
			for _, f := range files {
				info, err := os.Stat(filepath.Join(dir, "my-skill", filepath.FromSlash(f.Name)))
				if err != nil {
					t.Error(err)
				} else if script := strings.HasPrefix(f.Name, "scripts/"); filepath.Separator == '/' && script != (info.Mode()&0o100 != 0) {
					t.Errorf("%s has the mode %s", f.Name, info.Mode())
				}
				if strings.Contains(string(f.Data), "{{") {
					t.Errorf("%s still has a mark", f.Name)
				}
			}
		})
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"My Skill": `"My Skill" is not a skill's name; write my-skill`,
		"../up":    `"../up" is not a skill's name; write up`,
		"Café":     `"Café" is not a skill's name; use at most 64 of a-z, 0-9 and single hyphens between them`,
		"":         `"" is not a skill's name; use at most 64 of a-z, 0-9 and single hyphens between them`,
	} {
		dir := t.TempDir()
		if _, err := Write(dir, name, "bash"); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
		empty(t, dir)
	}
	dir := t.TempDir()
	if _, err := Write(dir, "demo", "perl"); err == nil || err.Error() != `there is no template for "perl"; write one of bash, python, node` {
		t.Errorf("error %v", err)
	}
	empty(t, dir)
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

func TestWriteOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "demo")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, "demo", "bash"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
		t.Errorf("the file is %q, %v", data, err)
	}
}

// TestTemplatesAreNoSkills scans the folder skills of a checkout of this repository
// and finds no skill.
func TestTemplatesAreNoSkills(t *testing.T) {
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := scan.Scan(t.Context(), []scan.Root{{Source: skills.SourceSession, Dir: dir}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, skill := range catalog.Skills {
		t.Errorf("%s is a skill", skill.File)
	}
	for _, problem := range catalog.Problems {
		t.Error(problem)
	}
}
