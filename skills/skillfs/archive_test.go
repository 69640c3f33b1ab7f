package skillfs

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An entry is one of a package that a test makes.
type entry struct {
	name string // a folder's ends with /
	text string
	mode fs.FileMode
}

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		header.SetMode(e.mode | 0o644)
		if e.text == "" {
			header.Method = zip.Store
		}
		if strings.HasSuffix(e.name, "/") {
			header.SetMode(fs.ModeDir | 0o755)
		}
		f, err := w.CreateHeader(header)
		if err == nil {
			_, err = io.WriteString(f, e.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarred(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: int64(e.mode.Perm() | 0o644), Size: int64(len(e.text)), Typeflag: tar.TypeReg}
		switch {
		case e.mode&fs.ModeSymlink != 0:
			header.Typeflag, header.Linkname, header.Size = tar.TypeSymlink, e.text, 0
		case e.mode&fs.ModeDevice != 0:
			header.Typeflag, header.Size = tar.TypeBlock, 0
		case e.mode&fs.ModeNamedPipe != 0:
			header.Typeflag, header.Size = tar.TypeFifo, 0
		case strings.HasSuffix(e.name, "/"):
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			if _, err := io.WriteString(w, e.text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// formats pack alike.
func formats() map[string]func(testing.TB, ...entry) []byte {
	return map[string]func(testing.TB, ...entry) []byte{"zip": zipped, "tar.gz": tarred}
}

// opened opens a package from a file.
func opened(t testing.TB, data []byte) (*archive, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := PackageFS(DirFS(dir), "package").Hold()
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { p.Close() })
	return p.held, nil
}

const manifest = "---\nname: demo\ndescription: d\n---\n"

func TestOpen(t *testing.T) {
	for format, pack := range formats() {
		t.Run(format, func(t *testing.T) {
			a, err := opened(t, pack(t,
				entry{"./", "", 0}, entry{"demo/", "", 0}, entry{"./demo/SKILL.md", manifest, 0}, entry{"demo/scripts/run.py", "print(1)\n", 0o755},
				entry{"demo/empty", "", 0}, entry{"demo/a//b/./c", "c", 0}, entry{"demo/large", strings.Repeat("x", 10_000), 0}))
			if err != nil {
				t.Fatal(err)
			}
			if err := fstest.TestFS(a, "demo/SKILL.md", "demo/scripts/run.py", "demo/empty", "demo/a/b/c", "demo/large"); err != nil {
				t.Error(err)
			}
			if a.root != "demo" {
				t.Errorf("root %q", a.root)
			}
			sub, err := fs.Sub(a, a.root)
			if err != nil {
				t.Fatal(err)
			}
			text, err := fs.ReadFile(sub, "SKILL.md")
			if err != nil || string(text) != manifest {
				t.Errorf("%q, %v", text, err)
			}
			for name, want := range map[string]fs.FileMode{"demo/scripts/run.py": 0o555, "demo/SKILL.md": 0o444, "demo/scripts": fs.ModeDir | 0o555} {
				if info, err := fs.Stat(a, name); err != nil || info.Mode() != want {
					t.Errorf("%s: %v, %v", name, info, err)
				}
			}
		})
	}
}

func TestRoot(t *testing.T) {
	for _, test := range []struct {
		files      string
		want, fail string
	}{
		{"SKILL.md", ".", ""},
		{"SKILL.md a/SKILL.md b/SKILL.md", ".", ""},
		{"skill.md", ".", ""},
		{"README a/Skill.md __MACOSX/a", "a", ""},
		{"a/b/SKILL.md", "", "it has no SKILL.md"},
		{"a/SKILL.md/x", "", "it has no SKILL.md"},
		{"a/SKILL.md b/SKILL.md", "", `it has 2 skills, such as "a" and "b"; pack each alone`},
		{"", "", "it is empty; pack the folder of a skill"},
	} {
		for format, pack := range formats() {
			var entries []entry
			for _, name := range strings.Fields(test.files) {
				entries = append(entries, entry{name, "x", 0})
			}
			a, err := opened(t, pack(t, entries...))
			if test.fail == "" && (err != nil || a.root != test.want) || test.fail != "" && !faulty(err, test.fail) {
				t.Errorf("%s of %q: %v, want %q %q", format, test.files, err, test.want, test.fail)
			}
		}
	}
}

// faulty reports whether an error blames the package, with a text.
func faulty(err error, text string) bool {
	var fault *ArchiveError
	return errors.As(err, &fault) && fault.Remedy != "" && strings.Contains(err.Error(), text)
}

func TestHostile(t *testing.T) {
	good := entry{"SKILL.md", manifest, 0}
	many := make([]entry, maxEntries+1)
	for i := range many {
		many[i] = entry{fmt.Sprint("f", i), "", 0}
	}
	for name, test := range map[string]struct {
		entries []entry
		want    string
	}{
		"leaves":               {[]entry{good, {"../x", "x", 0}}, `"../x": its path leads out of the package`},
		"leaves further down":  {[]entry{good, {"a/../../x", "x", 0}}, "leads out"},
		"stays, but by detour": {[]entry{good, {"a/../x", "x", 0}}, "leads out"},
		"absolute":             {[]entry{good, {"/etc/x", "x", 0}}, "its path is absolute"},
		"a drive":              {[]entry{good, {"C:x", "x", 0}}, "its path is absolute"},
		"backslash":            {[]entry{good, {`a\..\..\x`, "x", 0}}, "backslash"},
		"control":              {[]entry{good, {"a\nb", "x", 0}}, "control characters"},
		"not UTF-8":            {[]entry{good, {"a\xff", "x", 0}}, "not UTF-8"},
		"a long path":          {[]entry{good, {strings.Repeat("d/", 600), "", 0}}, "longer than 1024 bytes"},
		"a long name":          {[]entry{good, {strings.Repeat("d", 256), "", 0}}, "longer than 255 bytes"},
		"deep":                 {[]entry{good, {strings.Repeat("d/", maxDepth) + "x", "", 0}}, "more than 20 folders deep"},
		"link":                 {[]entry{good, {"a", "SKILL.md", fs.ModeSymlink}}, `"a": it is a link; pack the file`},
		"link that leaves":     {[]entry{good, {"a", "../../etc/passwd", fs.ModeSymlink}}, "it is a link"},
		"device":               {[]entry{good, {"a", "", fs.ModeDevice}}, "neither a file nor a folder"},
		"pipe":                 {[]entry{good, {"a", "", fs.ModeNamedPipe}}, "neither a file nor a folder"},
		"twice":                {[]entry{good, good}, "two entries of this name"},
		"twice, by detour":     {[]entry{good, {"./SKILL.md", "x", 0}}, "two entries of this name"},
		"a file below a file":  {[]entry{good, {"SKILL.md/x", "x", 0}}, "a file of the package is a folder of this one"},
		"a folder of a file":   {[]entry{good, {"SKILL.md/", "", 0}}, "a file and a folder of this name"},
		"a file of a folder":   {[]entry{good, {"a/b", "", 0}, {"a", "", 0}}, "two entries of this name"},
		"many":                 {many, "the package has more than 10000"},
	} {
		for format, pack := range formats() {
			t.Run(name+"/"+format, func(t *testing.T) {
				if _, err := opened(t, pack(t, test.entries...)); !faulty(err, test.want) {
					t.Errorf("%v, want %q", err, test.want)
				}
			})
		}
	}
}

func TestNotAPackage(t *testing.T) {
	good := zipped(t, entry{"SKILL.md", manifest, 0})
	packed := tarred(t, entry{"SKILL.md", manifest, 0})
	badSum := bytes.Clone(packed)
	badSum[len(badSum)-6]++
	var notTAR bytes.Buffer
	z := gzip.NewWriter(&notTAR)
	io.WriteString(z, strings.Repeat("no archive ", 100))
	z.Close()
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"empty":             {nil, "neither a ZIP nor a tar.gz file"},
		"text":              {[]byte(manifest), "pack the folder anew, with zip -r"},
		"half a ZIP file":   {good[:len(good)/2], "no whole ZIP file"},
		"half a tar.gz":     {packed[:len(packed)/2], "the archive is not whole"},
		"a wrong checksum":  {badSum, "the archive is not whole"},
		"gzip of a text":    {notTAR.Bytes(), "the archive is not whole"},
		"encrypted":         {flagged(good, 1), "it is encrypted"},
		"encrypted headers": {flagged(good, 1<<13), "it is encrypted"},
		"another method":    {patched(good, 10, 12), "packed with method 12"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := opened(t, test.data); !faulty(err, test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	dir := DirFS(t.TempDir())
	if _, err := PackageFS(dir, ".").Hold(); !faulty(err, "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := PackageFS(dir, "none").Hold(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

// Each limit is kept up to its last byte.
func TestLimits(t *testing.T) {
	text := func(size int) string { return strings.Repeat("x", size) }
	for name, test := range map[string]struct {
		limits  limits
		entries []entry
		want    string // "" is none
	}{
		"a package":          {limits{100, 1 << 20, 2 << 20, 2 << 20}, []entry{{"SKILL.md", manifest, 0}}, "it is larger than"},
		"a file":             {limits{1 << 20, 1 << 20, 2 << 20, 2 << 20}, []entry{{"SKILL.md", text(1<<20 + 1), 0}}, `"SKILL.md": it is larger than 1 MB`},
		"all files":          {limits{1 << 20, 1 << 20, 2 << 20, 2 << 20}, []entry{{"SKILL.md", text(1 << 20), 0}, {"a", text(1 << 20), 0}, {"b", "x", 0}}, `"b": the package holds more than 2 MB`},
		"as large as may be": {limits{1 << 20, 1 << 20, 2 << 20, 2 << 20}, []entry{{"SKILL.md", text(1 << 20), 0}, {"a", text(1 << 20), 0}, {"b", "", 0}}, ""},
	} {
		for format, pack := range formats() {
			a, err := newArchive(inMemory(t, pack(t, test.entries...)), test.limits)
			if err == nil {
				a.close()
			}
			if test.want == "" && err != nil || test.want != "" && !faulty(err, test.want) {
				t.Errorf("%s of %s: %v, want %q", format, name, err, test.want)
			}
		}
	}
}

// What is exported is what holds.
func TestDefaultLimits(t *testing.T) {
	large := append([]byte(zipMagic), make([]byte, maxPackage)...)
	if _, err := opened(t, large); !faulty(err, "larger than 50 MB") {
		t.Error(err)
	}
	at := bytes.Index(zipped(t, entry{"SKILL.md", manifest, 0}), []byte("PK\x01\x02"))
	for size, want := range map[uint32]string{maxFile: "", maxFile + 1: "larger than 64 MB"} {
		data := zipped(t, entry{"SKILL.md", manifest, 0})
		binary.LittleEndian.PutUint32(data[at+24:], size)
		if _, err := opened(t, data); want == "" && err != nil || want != "" && !faulty(err, want) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// patched returns a ZIP file with one 16-bit field of its first central header
// changed.
func patched(data []byte, field int, value uint16) []byte {
	data = bytes.Clone(data)
	at := bytes.Index(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint16(data[at+field:], value)
	return data
}

func flagged(data []byte, flag uint16) []byte { return patched(data, 8, flag) }

// A file that claims to be shorter than it is ends where it claims, with an
// error.
func TestLyingSize(t *testing.T) {
	data := zipped(t, entry{"SKILL.md", strings.Repeat("x", 1<<20), 0})
	at := bytes.Index(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[at+24:], 10)
	a, err := opened(t, data)
	if err != nil {
		t.Fatal(err)
	}
	file, err := a.Open("SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if n, err := io.Copy(io.Discard, file); err == nil || n > 64<<10 {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

// A list of entries that would fill the memory is not read to its end.
func TestLongDirectory(t *testing.T) {
	entries := []entry{{"SKILL.md", manifest, 0}}
	for i := range 5_000 {
		entries = append(entries, entry{fmt.Sprintf("%s/%d", strings.Repeat("n", 1000), i), "", 0})
	}
	if _, err := opened(t, zipped(t, entries...)); !faulty(err, "its list of entries is longer than 4 MB") {
		t.Error(err)
	}
}

// What is repeated without end ends where the bound is.
func TestEndlessStream(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "SKILL.md", Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range headroom>>20 + 3 {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	z.Close()
	if _, err := newArchive(inMemory(t, bomb.Bytes()), limits{1 << 20, 1 << 20, 2 << 20, 2 << 20}); !faulty(err, "the archive unpacks to more than 2 MB") {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	a, err := opened(t, zipped(t, entry{"SKILL.md", manifest, 0}))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.close(); err != nil {
		t.Error(err)
	}
	if _, err := fs.ReadFile(a, "SKILL.md"); err == nil {
		t.Error("a closed package was read")
	}
}

// A tar.gz file is in memory while it is open, so it has a limit of its own.
func TestLargeTar(t *testing.T) {
	small := limits{1 << 20, 1 << 20, 3 << 20, 1 << 20}
	entries := []entry{{"SKILL.md", manifest, 0}, {"a", strings.Repeat("x", 1<<20), 0}}
	if _, err := newArchive(inMemory(t, tarred(t, entries...)), small); !faulty(err, "more than 1 MB is not read in place; pack it as a ZIP file") {
		t.Error(err)
	}
	if _, err := newArchive(inMemory(t, zipped(t, entries...)), small); err != nil {
		t.Error(err)
	}
}

// What has a SKILL.md anywhere is meant to be a skill, whatever is wrong with it.
func TestNoSkill(t *testing.T) {
	for format, pack := range formats() {
		for name, test := range map[string]struct {
			entries []entry
			want    bool
		}{
			"no SKILL.md":            {[]entry{{"x", "x", 0}}, true},
			"a link, no SKILL.md":    {[]entry{{"x", "y", fs.ModeSymlink}, {"z", "z", 0}}, true},
			"SKILL.md, then a link":  {[]entry{{"SKILL.md", "x", 0}, {"x", "y", fs.ModeSymlink}}, false},
			"a link, then SKILL.md":  {[]entry{{"x", "y", fs.ModeSymlink}, {"a/Skill.MD", "x", 0}}, false},
			"SKILL.md too far below": {[]entry{{"a/b/SKILL.md", "x", 0}}, false},
		} {
			_, err := opened(t, pack(t, test.entries...))
			if err == nil || errors.Is(err, ErrNoSkill) != test.want || !faulty(err, "") {
				t.Errorf("%s of %s: %v is ErrNoSkill: %v, want %v", format, name, err, !test.want, test.want)
			}
		}
	}
	if _, err := opened(t, []byte("text")); !errors.Is(err, ErrNoSkill) {
		t.Error(err)
	}
}

func TestIs(t *testing.T) {
	for format, pack := range formats() {
		if data := pack(t, entry{"x", "", 0}); !IsPackage(bytes.NewReader(data)) {
			t.Errorf("%s is none", format)
		}
	}
	for _, text := range []string{"", "P", "PK", "text", "\x1f"} {
		if IsPackage(strings.NewReader(text)) {
			t.Errorf("%q is one", text)
		}
	}
}
