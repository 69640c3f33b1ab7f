package skillfs

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"
)

// memory is a package that is no file of the machine.
type memory struct {
	fs.File
	*bytes.Reader
}

func (m memory) Read(p []byte) (int, error) { return m.Reader.Read(p) }

func inMemory(t testing.TB, data []byte) memory {
	file, err := fstest.MapFS{"package": {Data: data}}.Open("package")
	if err != nil {
		t.Fatal(err)
	}
	return memory{file, bytes.NewReader(data)}
}

func seeds() [][]entry {
	return [][]entry{
		nil, {{"SKILL.md", manifest, 0}}, {{"a/", "", 0}, {"a/SKILL.md", manifest, 0}, {"a/scripts/x", "x", 0o755}},
		{{"../SKILL.md", "x", 0}}, {{"SKILL.md", "x", fs.ModeSymlink}}, {{"a", "", 0}, {"A", "", 0}, {"SKILL.md", "", 0}}, {{"SKILL.md", "", 0}, {"SKILL.md/", "", 0}},
	}
}

// FuzzZIP: whatever a ZIP file is, it is refused or is a bounded file system.
func FuzzZIP(f *testing.F) {
	for _, entries := range seeds() {
		f.Add(zipped(f, entries...))
	}
	f.Add(flagged(zipped(f, entry{"SKILL.md", manifest, 0}), 1))
	f.Add([]byte(emptyMagic))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data) })
}

// FuzzTAR: the same of the stream in a tar.gz file.
func FuzzTAR(f *testing.F) {
	for _, entries := range seeds() {
		z, err := gzip.NewReader(bytes.NewReader(tarred(f, entries...)))
		if err != nil {
			f.Fatal(err)
		}
		stream, err := io.ReadAll(z)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(stream)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.NoCompression)
		z.Write(stream)
		z.Close()
		check(t, packed.Bytes())
	})
}

func check(t *testing.T, data []byte) {
	a, err := newArchive(inMemory(t, data), limits{maxPackage, maxFile, maxUnpacked, maxRepacked})
	if err != nil {
		return
	}
	defer a.close()
	entries, total := 0, int64(0)
	err = fs.WalkDir(a, a.root, func(name string, d fs.DirEntry, err error) error {
		if entries++; err != nil || !fs.ValidPath(name) || d.Type()&^fs.ModeDir != 0 {
			t.Errorf("%q: %v, %v", name, d, err)
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			t.Error(err)
		}
		text, err := fs.ReadFile(a, name)
		if err == nil && int64(len(text)) != info.Size() || int64(len(text)) > maxFile {
			t.Errorf("%q: %d bytes, not %d", name, len(text), info.Size())
		}
		total += info.Size()
		return nil
	})
	if err != nil || entries > maxEntries || total > maxUnpacked {
		t.Errorf("%d entries, %d bytes, %v", entries, total, err)
	}
}
