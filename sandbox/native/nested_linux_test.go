//go:build amd64 || arm64

package native

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// TestNestedWorkspaceReplaced has a command put a link in the place of a
// workspace's parent folder, in another workspace that it may write to. The next
// command must not get what the link leads to on the host.
func TestNestedWorkspaceReplaced(t *testing.T) {
	d := newDriver(t)
	for name, order := range map[string]func(outer, inner string) []string{
		"outer first": func(outer, inner string) []string { return []string{outer, inner} },
		"inner first": func(outer, inner string) []string { return []string{inner, outer} },
	} {
		t.Run(name, func(t *testing.T) {
			outer := openFolder(t)
			inner := filepath.Join(outer, "a", "etc")
			if err := os.MkdirAll(inner, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(outer, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(outer, "a"), 0o777); err != nil {
				t.Fatal(err)
			}
			grant := sandbox.Grant{Workspaces: order(outer, inner)}
			const replace = `cd "$0" && mv a b && ln -s / a` // a/etc is the host's for whoever follows it
			got := try(t, d, sandbox.Command{Argv: []string{"bash", "-c", replace, outer}, Grant: sandbox.Grant{Workspaces: []string{outer}, Write: true}})
			if got.err != nil || got.code != 0 {
				t.Fatalf("the replacement failed: %+v", got)
			}
			got = try(t, d, sandbox.Command{Argv: []string{"ls", inner}, Grant: grant})
			if got.err == nil || got.started != 0 || got.stdout != "" {
				t.Errorf("the link was followed: %+v", got)
			}
		})
	}
}

// TestNestedSource is for an init that opens workspaces itself, as an ordinary
// user's does.
func TestNestedSource(t *testing.T) {
	outer, elsewhere := openFolder(t), openFolder(t)
	if err := os.MkdirAll(filepath.Join(outer, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(outer, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{"a/b": nil, "link": unix.ELOOP} {
		m := mount{Source: filepath.Join(outer, path), Around: outer}
		fd, err := m.openSource()
		if !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", path, err, want)
		}
		if err == nil {
			_ = unix.Close(fd)
		}
	}
}
