package quarantine

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newFolder(t *testing.T, limits *Limits) *Folder {
	t.Helper()
	f, err := New(t.TempDir(), limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(f.Path()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder is still there: %v", err)
		}
	})
	return f
}

func create(t *testing.T, f *Folder, name string, executable bool, content io.Reader) {
	t.Helper()
	if err := f.Create(name, executable, content); err != nil {
		t.Fatal(err)
	}
}

func TestModes(t *testing.T) {
	f := newFolder(t, nil)
	create(t, f, "a/run.sh", true, strings.NewReader("echo"))
	create(t, f, "a/text", false, strings.NewReader("text"))
	if err := f.Link("link", "a/run.sh"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(f.Path(), "link")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link is there before Seal: %v", err)
	}
	if err := f.Seal(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{".": 0o700, "a": 0o755, "a/run.sh": 0o755, "a/text": 0o644, "link": 0o755} {
		info, err := os.Stat(filepath.Join(f.Path(), name))
		if err != nil || info.Mode().Perm() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	for _, err := range []error{f.Create("b", false, strings.NewReader("")), f.Link("b", "a"), f.Seal()} {
		if !errors.Is(err, errSealed) {
			t.Errorf("after Seal: %v", err)
		}
	}
}

// TestCreateFails shows that a file that is not accepted does not exist, and may come
// again.
func TestCreateFails(t *testing.T) {
	f := newFolder(t, &Limits{File: 10, Total: 15})
	create(t, f, "first", false, strings.NewReader("12345"))
	for _, test := range []struct {
		content io.Reader
		want    string
	}{
		{strings.NewReader(strings.Repeat("x", 11)), `"a": it is larger than 10 bytes; leave it out`},
		{io.MultiReader(strings.NewReader("123"), iotest.ErrReader(errors.New("broken"))), "broken"},
	} {
		if err := f.Create("a", false, test.content); err == nil || err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
		if _, err := os.Lstat(filepath.Join(f.Path(), "a")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file exists: %v", err)
		}
	}
	create(t, f, "a", false, strings.NewReader("1234567890"))
	if err := f.Create("b", false, strings.NewReader("1")); err == nil || err.Error() != `"b": with it all files are larger than 15 bytes; leave out what the skill does not need` {
		t.Error(err)
	}
	create(t, f, "empty", false, strings.NewReader(""))
	for name, want := range map[string]string{
		".git/config": "it lies in a folder that git takes for a repository", "a": "two files of this name", "../a": "leads out", "": "a file has no name",
	} {
		if err := f.Create(name, false, strings.NewReader("")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

func TestCloseReadOnly(t *testing.T) {
	f := newFolder(t, nil)
	create(t, f, "a/b/c", false, strings.NewReader("text"))
	for _, dir := range []string{"a/b", "a"} {
		if err := os.Chmod(filepath.Join(f.Path(), dir), 0o500); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCopySpecial(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Skipf("no sockets in folders: %v", err)
	}
	defer listener.Close()
	f := newFolder(t, nil)
	if err := f.Copy(t.Context(), dir); err == nil || err.Error() != `"socket": it is neither a file nor a folder nor a link; leave it out` {
		t.Error(err)
	}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"SKILL.md", "scripts/run", ".git/config", "sub/.git/config", "sub/.Git/hooks/x", "sub/file"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "scripts/run"), 0o4755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "SKILL.md"), filepath.Join(dir, "scripts/absolute")); err != nil {
		t.Fatal(err)
	}
	f := newFolder(t, nil)
	if err := errors.Join(f.Copy(t.Context(), dir), f.Seal()); err != nil {
		t.Fatal(err)
	}
	if got := listing(t, f.Path(), false); got != "SKILL.md scripts scripts/absolute scripts/run sub sub/file" {
		t.Errorf("it has %s", got)
	}
	if target, err := os.Readlink(filepath.Join(f.Path(), "scripts/absolute")); err != nil || target != filepath.FromSlash("../SKILL.md") {
		t.Errorf("the link leads to %s, %v", target, err)
	}
	if info, err := os.Stat(filepath.Join(f.Path(), "scripts/run")); err != nil || info.Mode() != 0o755 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestForeign(t *testing.T) {
	for name, want := range map[string]bool{
		"CON": true, "con.txt": true, "Aux .md": true, "nul": true, "COM1": true, "com¹.x": true, "LPT9": true, "CONOUT$": true,
		"a:b": true, "a?": true, "a ": true, "a.": true,
		"COM0": false, "COM10": false, "console": false, "com": false, "lpt": false, ".aux": false, "a.con": false, "..": false, "a b": false,
	} {
		if got := foreign(name) != ""; got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// FuzzCreate finds no two names of which one harms the host, or the other.
func FuzzCreate(f *testing.F) {
	for _, test := range hostileCases() {
		for i := range test.entries[:max(0, min(len(test.entries)-1, 2))] {
			f.Add(test.entries[i].name, test.entries[i+1].name, test.entries[i].link)
		}
	}
	f.Fuzz(func(t *testing.T, first, second, target string) {
		host := newHost(t)
		before := listing(t, host, true)
		q, err := New(filepath.Join(host, "quarantines"), &testLimits)
		if err != nil {
			t.Fatal(err)
		}
		checkError(t, q.Link(first+"-", target))
		for _, name := range []string{first, second} {
			err := q.Create(name, false, strings.NewReader(name))
			checkError(t, err)
			if err != nil {
				continue
			}
			if got, err := os.ReadFile(filepath.Join(q.Path(), filepath.FromSlash(name))); err != nil || string(got) != name {
				t.Errorf("%q has %q, %v", name, got, err)
			}
		}
		checkError(t, q.Seal())
		checkInside(t, q)
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if after := listing(t, host, true); after != before {
			t.Errorf("the host has changed:\n%s", after)
		}
	})
}

// checkError accepts no error but those of the source.
func checkError(t *testing.T, err error) {
	t.Helper()
	var fault *Error
	if err != nil && !errors.As(err, &fault) {
		t.Errorf("%v is no error of the source", err)
	}
}
