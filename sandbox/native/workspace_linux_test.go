//go:build amd64 || arm64

package native

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestCheckWorkspace(t *testing.T) {
	for _, path := range []string{
		"/", "/skill", "/skill/below", "/out", "/out/below", "/tmp", "/proc",
		"/proc/self", "/dev", "/dev/shm", "/sys", "/sys/fs", "/usr", "/etc", "/bin", "/lib", "relative", "",
		"/usr/../etc", "/usr/share/", "/usr/share/no-such-folder", "/etc/passwd",
	} {
		if _, err := checkWorkspace(path); err == nil {
			t.Errorf("workspace %q was accepted", path)
		}
	}
	for _, path := range []string{"/usr/share", "/home", t.TempDir()} {
		if _, err := checkWorkspace(path); err != nil {
			t.Errorf("workspace %q: %v", path, err)
		}
	}
}

// TestWorkspacePlaces grants folders in places that the sandbox has things of
// its own in.
func TestWorkspacePlaces(t *testing.T) {
	d := newDriver(t)
	outer := openFolder(t)
	inner := filepath.Join(outer, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(inner, "file"), "text\n", 0o644)
	alias := filepath.Join(openFolder(t), "alias")
	if err := os.Symlink(inner, alias); err != nil {
		t.Fatal(err)
	}
	before := mountsOf(t)
	for name, workspaces := range map[string][]string{
		"below /tmp":               {inner},
		"by a link":                {alias},
		"one in another":           {outer, inner},
		"one in another, reversed": {inner, outer},
		"twice":                    {inner, inner},
		"in /usr":                  {inner, "/usr/share"},
	} {
		t.Run(name, func(t *testing.T) {
			got := try(t, d, sandbox.Command{
				Argv:  []string{"bash", "-c", `cat "$0/file" 2>/dev/null || cat "$0/inner/file"; ls -A /tmp | wc -l`, workspaces[0]},
				Grant: sandbox.Grant{Workspaces: workspaces},
			})
			if got.stdout != "text\n1\n" {
				t.Errorf("got %+v", got)
			}
		})
	}
	if diff := cmp.Diff(before, mountsOf(t)); diff != "" {
		t.Errorf("the host's mounts have changed:\n%s", diff)
	}
}

// mountsOf returns the host's mounts, but for the kinds that a Docker engine
// makes: containers of other tests come and go.
func mountsOf(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "overlay ") && !strings.HasPrefix(line, "nsfs ") && !strings.HasPrefix(line, "shm ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// TestWorkspaceBehindClosedDoor grants a folder that only the server's user has
// a way to.
func TestWorkspaceBehindClosedDoor(t *testing.T) {
	d := newDriver(t)
	door := openFolder(t)
	room := filepath.Join(door, "room")
	if err := os.Mkdir(room, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(room, "file"), "text\n", 0o644)
	if err := os.Chmod(door, 0o700); err != nil {
		t.Fatal(err)
	}
	got := try(t, d, sandbox.Command{
		Argv:  []string{"bash", "-c", `cat "$0/file" /workspace/file; ls -A "$0/.."`, room},
		Grant: sandbox.Grant{Workspaces: []string{room}},
	})
	if got.stdout != "text\ntext\nroom\n" {
		t.Errorf("got %+v", got)
	}
}

// TestWritableWorkspace wants what was written to be the person's, and neither
// devices nor setuid programs in it to work.
func TestWritableWorkspace(t *testing.T) {
	d := newDriver(t)
	folder := openFolder(t)
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	got := try(t, d, sandbox.Command{
		Argv:  []string{"bash", "-c", `echo new >/workspace/new; stat -c %u:%g /workspace/new; grep -c " $0 .*rw,nosuid,nodev" /proc/mounts`, folder},
		Grant: sandbox.Grant{Workspaces: []string{folder}, Write: true},
	})
	if got.err != nil || got.stderr != "" {
		t.Errorf("got %+v", got)
	}
	text, err := os.ReadFile(filepath.Join(folder, "new"))
	if err != nil || string(text) != "new\n" {
		t.Errorf("the host reads %q, %v", text, err)
	}
}
