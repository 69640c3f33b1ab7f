package docker

import (
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// TestNestedWorkspace grants a workspace in another one, where a command can put
// links on the way to it: the engine must not look for it there.
func TestNestedWorkspace(t *testing.T) {
	cmd := &sandbox.Command{Folder: "/folder", Grant: sandbox.Grant{
		Workspaces: []string{"/home/me/outer", "/home/me/outer/a/inner", "/home/me/outer2"},
		Write:      true,
	}}
	all, err := mounts(cmd, &image{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, m.Source+" at "+m.Target)
	}
	want := []string{
		"/folder at /skill", "/home/me/outer at /home/me/outer", "/home/me/outer at /workspace",
		"/home/me/outer2 at /home/me/outer2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("mounts %q, want %q", got, want)
	}
	cmd.Grant.Workspaces = []string{"/home/me/outer/inner", "/home/me/outer"}
	if got, err := mounts(cmd, &image{}); err == nil {
		t.Errorf("the first workspace is mounted out of the second: %+v", got)
	}
}
