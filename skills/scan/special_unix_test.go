//go:build unix

package scan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A named pipe would never end, so it is not read.
func TestNamedPipeIsNotRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good/SKILL.md", skillText("good"))
	for _, name := range []string{"pipe/SKILL.md", "plugin/plugin.json"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, plugins := range []bool{false, true} {
		catalog := scanDir(t, dir, plugins)
		if got := lines(catalog.Problems); !plugins && !strings.Contains(got, "pipe/SKILL.md: error: SKILL.md is not a regular file (put a file there)") {
			t.Errorf("problems:\n%s", got)
		}
		if !plugins && len(catalog.Skills) != 1 {
			t.Errorf("skills %v", names(catalog))
		}
	}
}

// TestNamedPipeIsNotWaitedFor has a call read again a recent change, without waiting
// for a pipe.
func TestNamedPipeIsNotWaitedFor(t *testing.T) {
	dir := realTempDir(t)
	file := filepath.Join(dir, "pipe", "SKILL.md")
	must(t, os.Mkdir(filepath.Dir(file), 0o755))
	must(t, unix.Mkfifo(file, 0o644))
	scanner := NewScanner([]Root{{Source: skills.SourceUser, Dir: dir}}, nil)
	_, err := scanner.Scan(t.Context())
	must(t, err)
	_, err = scanner.Recheck(t.Context())
	must(t, err)
	if sumOf(file) != 0 {
		t.Error("a pipe has a content")
	}
}

// A script that is a named pipe, or that nobody may read, cannot run.
func TestScriptThatIsAPipe(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "demo/SKILL.md", "---\nname: demo\ndescription: d\nscript: run.sh\n---\n")
	if err := unix.Mkfifo(filepath.Join(dir, "demo", "run.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	catalog := scanDir(t, dir, false)
	if got := catalog.Skills[0].Unavailable; got != "script run.sh cannot be read: it is not a regular file" {
		t.Errorf("unavailable: %q", got)
	}
}

// Whoever may write to a workspace may put a link in the place of a skill's
// folder, or of one above it, after it was read: it leads nowhere.
func TestSwappedFolder(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "evil/secret", "secret")
	write(t, outside, "skills/evil/secret", "secret")
	for swapped, target := range map[string]string{
		".claude/skills/evil": filepath.Join(outside, "evil"),
		".claude/skills":      filepath.Join(outside, "skills"),
		".claude":             outside,
	} {
		t.Run(swapped, func(t *testing.T) {
			workspace, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write(t, workspace, ".claude/skills/evil/SKILL.md", skillText("evil"))
			roots := []Root{{Dir: filepath.Join(workspace, ".claude", "skills"), Within: workspace}}
			catalog, err := Scan(t.Context(), roots, nil)
			if err != nil || len(catalog.Skills) != 1 {
				t.Fatalf("skills %v, %v", names(catalog), err)
			}
			path := filepath.Join(workspace, swapped)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			if data, err := manifest.ReadFile(catalog.Skills[0].Files, "secret", 100); err == nil {
				t.Errorf("read %q", data)
			}
			after, err := Scan(t.Context(), roots, nil)
			if err != nil || len(after.Skills) != 0 {
				t.Errorf("afterwards: skills %v, %v", names(after), err)
			}
		})
	}
}

// A link that stays in the workspace is fine.
func TestLinkedRootInsideOfAWorkspace(t *testing.T) {
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, workspace, "tools/skills/a/SKILL.md", skillText("a"))
	link(t, "tools", workspace, ".claude")
	catalog, err := Scan(t.Context(), []Root{{Dir: filepath.Join(workspace, ".claude", "skills"), Within: workspace}}, nil)
	if err != nil || len(catalog.Skills) != 1 || catalog.Skills[0].Dir != filepath.Join(workspace, "tools", "skills", "a") {
		t.Errorf("skills %v, %v, problems %v", names(catalog), err, catalog.Problems)
	}
}

// A named pipe that was put in the place of a file is refused, not waited for.
func TestOpenRegularDoesNotWait(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if file, err := skillfs.OpenRegular(skillfs.DirFS(dir), "pipe"); err == nil {
		file.Close()
		t.Error("a pipe was opened as a file")
	}
}
