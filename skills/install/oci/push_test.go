package oci

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// skillFolder makes a folder with a skill. Times, and modes but for the executable bit, are
// those of the machine.
func skillFolder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"SKILL.md": skillText, "scripts/read.sh": "#!/bin/sh\n", "a.txt": "a", ".git/config": "secret", "empty.txt": ""} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "scripts/read.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.txt", filepath.Join(dir, "link.txt")); err != nil {
		t.Skipf("SKIPPED: links need a privilege: %v", err)
	}
	return dir
}

// TestPush: what was pushed is fetched as it was, and has the same digest each time.
func TestPush(t *testing.T) {
	t.Parallel()
	a := in(t)
	to := source.Source{Kind: source.OCI, Location: a.location(), Ref: "1.0"}
	d := Description{Name: "pdf", Description: "Reads PDF files.", License: "MIT", Source: "https://example.com/pdf", Revision: "abc", Metadata: map[string]any{"b": "1", "a": "2"}}
	var first *Pushed
	for range 2 {
		dir := skillFolder(t)
		if err := os.Chtimes(filepath.Join(dir, "a.txt"), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		pushed, err := newFetcher(t, download.Options{}, "").Push(t.Context(), skillfs.DirFS(dir), to, d)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = pushed
		}
		if diff := cmp.Diff(first, pushed); diff != "" || pushed.Files != 5 {
			t.Errorf("%d files, pushed again (-first +second):\n%s", pushed.Files, diff)
		}
	}
	fetched, files, err := fetch(t, newFetcher(t, download.Options{}, ""), named(a.location(), "1.0"))
	if err != nil || fetched.Revision != first.Digest {
		t.Fatalf("%+v, %v, pushed %s", fetched, err, first.Digest)
	}
	want := map[string]string{"pdf/SKILL.md": skillText, "pdf/scripts/read.sh": "* #!/bin/sh\n", "pdf/a.txt": "a", "pdf/link.txt": "-> a.txt", "pdf/empty.txt": ""}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if len(fetched.Notes) != 1 || !strings.Contains(fetched.Notes[0].Text, "https://example.com/pdf at abc") {
		t.Errorf("notes: %v", fetched.Notes)
	}
	repository, m := a.repository, (*manifest)(nil)
	if m, err = readManifest(t.Context(), repository, "1.0"); err != nil {
		t.Fatal(err)
	}
	annotations := map[string]string{
		"io.agentskills.skill.name": "pdf", "org.opencontainers.image.title": "pdf", "org.opencontainers.image.version": "1.0",
		"org.opencontainers.image.description": "Reads PDF files.", "org.opencontainers.image.licenses": "MIT",
		"org.opencontainers.image.source": "https://example.com/pdf", "org.opencontainers.image.revision": "abc",
	}
	if diff := cmp.Diff(annotations, m.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// TestPushFaults: an upload is tried again, and what cannot be pushed is an error.
func TestPushFaults(t *testing.T) {
	t.Parallel()
	a := in(t)
	busy := true
	host := proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && busy {
			busy = false
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	to := source.Source{Kind: source.OCI, Location: at(host, a.location()), Ref: "1.0"}
	if _, err := newFetcher(t, download.Options{}, "").Push(t.Context(), skillfs.DirFS(skillFolder(t)), to, Description{Name: "pdf"}); err != nil {
		t.Errorf("a busy registry: %v", err)
	}
	denied := to
	denied.Location = at(proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	}), a.location())
	digested := to
	digested.Ref = "sha256:" + strings.Repeat("0", 64)
	out, absolute := skillFolder(t), skillFolder(t)
	for dir, target := range map[string]string{out: "../../x", absolute: filepath.Join(absolute, "a.txt")} {
		if err := os.Symlink(target, filepath.Join(dir, "out")); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, dir, skill string
		to               source.Source
		want             string
	}{
		{"no right", skillFolder(t), "pdf", denied, "does not let you do that"},
		{"a digest", skillFolder(t), "pdf", digested, "cannot name a digest"},
		{"a name", skillFolder(t), "../pdf", to, "is no name of the Agent Skills standard"},
		{"a link out", out, "pdf", to, "out is a link to ../../x, which is not in the skill"},
		{"an absolute link", absolute, "pdf", to, "which is not in the skill"},
		{"no folder", filepath.Join(out, "none"), "pdf", to, "no such file"},
	} {
		if _, err := newFetcher(t, download.Options{}, "").Push(t.Context(), skillfs.DirFS(test.dir), test.to, Description{Name: test.skill}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
