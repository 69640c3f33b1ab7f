//go:build amd64 || arm64

package native

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// leave runs a script and returns what it left in /out, and its exit code.
func leave(t *testing.T, script string, limits sandbox.Limits) (sandbox.Files, int, error) {
	t.Helper()
	exit, err := newDriver(t).Run(t.Context(), &sandbox.Command{
		RunID: "test", Argv: []string{"bash", "-c", script}, Folder: openFolder(t), Limits: limits, Stderr: t.Output(),
	})
	if exit == nil {
		t.Fatal(err)
	}
	return exit.Out, exit.Code, err
}

func TestOut(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		taken  map[string]string
		left   []string // in what is said of each
	}{
		"nothing": {`true`, map[string]string{}, nil},
		"files": {
			`mkdir -p /out/a/b; echo one >/out/1; echo two >/out/a/b/2; : >/out/empty; exit 3`,
			map[string]string{"1": "one\n", "a/b/2": "two\n", "empty": ""}, nil,
		},
		"what is no file": {
			`cd /out; ln -s /etc/passwd link; ln -s 1 own; ln -s /etc folder; mkfifo pipe; echo one >1
			python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("/out/socket")'`,
			map[string]string{"1": "one\n"}, []string{`"folder"`, `"link"`, `"own"`, `"pipe"`, `"socket"`},
		},
		"a sparse file": {`truncate -s 200M /out/sparse`, map[string]string{}, []string{"at most 16 MB"}},
		"a link in the folder's place": {
			`mkdir /out/a; echo one >/out/a/1; mv /out/a /tmp/; ln -s /tmp/a /out/a`,
			map[string]string{}, []string{`"a"`},
		},
		"from the background": {
			`(exec >/dev/null 2>&1; while :; do echo x >/out/late; rm -f /out/late; done) & echo one >/out/1; exec true`,
			nil, nil, // that it is read at all
		},
	} {
		t.Run(name, func(t *testing.T) {
			files, _, err := leave(t, test.script, sandbox.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if test.taken == nil {
				return
			}
			taken := map[string]string{}
			for _, f := range files.Taken {
				taken[f.Name] = string(f.Data)
			}
			if diff := cmp.Diff(test.taken, taken); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
			if len(files.Left) != len(test.left) {
				t.Fatalf("left %q", files.Left)
			}
			for i, want := range test.left {
				if !strings.Contains(files.Left[i], want) {
					t.Errorf("left %q, want %q", files.Left[i], want)
				}
			}
		})
	}
}

// TestOutUnreadable is about the server's own rights: as root it may read what
// the command closed, and otherwise must get over that.
func TestOutUnreadable(t *testing.T) {
	files, _, err := leave(t, `echo one >/out/1; chmod 000 /out/1; mkdir /out/a; echo two >/out/a/2; chmod 000 /out/a; echo three >/out/z`, sandbox.Limits{})
	if err != nil || len(files.Taken)+len(files.Left) != 3 || len(files.Taken) == 0 {
		t.Fatalf("got %+v, %v", files, err)
	}
	if last := files.Taken[len(files.Taken)-1]; last.Name != "z" || string(last.Data) != "three\n" {
		t.Errorf("got %+v", last)
	}
}

// TestOutOfInodes fills a folder with empty files, which are kernel memory.
func TestOutOfInodes(t *testing.T) {
	for _, folder := range []string{"/out", "/tmp"} {
		const most = leastFiles // for 1 MB
		files, code, err := leave(t, `cd `+folder+` && python3 - <<'EOF'
try:
    for i in range(1000000):
        open(str(i), "w").close()
except OSError as e:
    raise SystemExit(7 if e.errno == 28 and 1000 < i < `+fmt.Sprint(most)+` else 8)
EOF`, sandbox.Limits{Tmp: 1 << 20})
		if err != nil || code != 7 {
			t.Errorf("%s: code %d, %v", folder, code, err)
		}
		if folder == "/out" && (len(files.Taken) != sandbox.MaxOutFiles || len(files.Left) == 0) {
			t.Errorf("%d files taken, left %q", len(files.Taken), files.Left)
		}
	}
}

// TestFileLimit wants a full /tmp to be an error, and a workspace's file that
// is too large a signal, as usual.
func TestFileLimit(t *testing.T) {
	d := newDriver(t)
	folder := openFolder(t)
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	const limit = 4 << 20
	got := try(t, d, sandbox.Command{
		Argv:   []string{"bash", "-c", `head -c 16M /dev/zero >/tmp/x; echo $?; head -c 16M /dev/zero >/workspace/x; echo $?`},
		Grant:  sandbox.Grant{Workspaces: []string{folder}, Write: true},
		Limits: sandbox.Limits{File: limit, Tmp: 1 << 20},
	})
	const tooLarge = 128 + 25 // SIGXFSZ
	if want := fmt.Sprintf("1\n%d\n", tooLarge); got.stdout != want || !strings.Contains(got.stderr, "No space left") {
		t.Errorf("got %+v, want %q", got, want)
	}
	if info, err := os.Stat(filepath.Join(folder, "x")); err != nil || info.Size() > limit {
		t.Errorf("the file: %v, %v", info, err)
	}
}

// TestOutFS has links in all places in a folder that does not change.
func TestOutFS(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a", "a/b"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(folder, "a/b/file"), "text", 0o644)
	for link, to := range map[string]string{"l": "a", "up": "..", "abs": "/", "a/f": "b/file"} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	fsys := outFS(root.Fd())
	f, err := fsys.Open("a/b/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, err := io.ReadAll(f); err != nil || !bytes.Equal(data, []byte("text")) {
		t.Errorf("read %q, %v", data, err)
	}
	for _, name := range []string{"l", "l/b/file", "up", "up/x", "abs", "abs/etc/passwd", "a/f", "a", "../x", "/etc/passwd", "a/../../x"} {
		if f, err := fsys.Open(name); err == nil {
			t.Errorf("%s was opened", name)
			_ = f.Close()
		}
	}
	if _, err := fsys.ReadDir("l"); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a link to a folder was read: %v", err)
	}
}
