package cache

import (
	"archive/zip"
	"bytes"
	"io"
	"path/filepath"
	"testing"
)

func zipped(t *testing.T, name, content string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.Create(name)
	must(t, err)
	_, err = io.WriteString(f, content)
	must(t, err)
	must(t, w.Close())
	return out.String()
}

// A packed skill is kept, with where in its package it is, and so is that there
// is none in a file; a package that has changed is read again.
func TestPacked(t *testing.T) {
	root, file := tempDir(t), filepath.Join(tempDir(t), "cache")
	const text = "---\nname: demo\ndescription: d\nentry_points: {a: run.sh}\n---\n"
	write(t, filepath.Join(root, "demo.zip"), zipped(t, "demo/SKILL.md", text))
	write(t, filepath.Join(root, "broken.zip"), zipped(t, "SKILL.md", "---\nbroken"))
	write(t, filepath.Join(root, "notes.zip"), zipped(t, "notes", "x"))
	for i, wantHits := range []int{0, 2, 2} {
		got, hits := scanned(t, root, file, "1")
		same(t, plain(t, root), got)
		if want := filepath.Join(root, "demo.zip", "demo", "SKILL.md"); hits != wantHits || len(got.Skills) == 0 || got.Skills[0].File != want {
			t.Errorf("scan %d found %d of packages in the cache, want %d; %+v", i+1, hits, wantHits, got)
		}
	}
	write(t, filepath.Join(root, "demo.zip"), zipped(t, "SKILL.md", text+"more"))
	write(t, filepath.Join(root, "notes.zip"), zipped(t, "SKILL.md", "---\nname: notes\ndescription: d\n---\n"))
	got, hits := scanned(t, root, file, "1")
	same(t, plain(t, root), got)
	if hits != 0 {
		t.Errorf("%d packages that changed were in the cache", hits)
	}
}
