package docker

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
)

// After a change of a skill a container with the new folder waits before the next call,
// where one waited before.
func TestRenew(t *testing.T) {
	d := realDriver(t)
	cmd, changed := realCommand(t, "exit 0"), realCommand(t, "exit 0")
	never := func() (string, error) {
		t.Error("asked for a folder without need")
		return "", nil
	}
	renew := func(folder func() (string, error), want error) {
		t.Helper()
		if err := d.Renew(cmd.Skill, folder); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
	renew(never, nil) // it had no command
	if _, err := d.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	before := waiting(t, d)
	renew(never, nil) // nothing was discarded
	d.Forget(cmd.Skill)
	failure := errors.New("no folder")
	renew(func() (string, error) { return "", failure }, failure)
	renew(never, nil) // once
	if left := waiting(t, d); len(left) != 0 {
		t.Errorf("%v wait", left)
	}
	if _, err := d.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second change before the next call
		d.Forget(cmd.Skill)
		renew(func() (string, error) { return changed.Folder, nil }, nil)
		settled(d)
	}
	after := waiting(t, d)
	if len(after) != 1 || slices.Contains(before, after[0]) {
		t.Fatalf("%v wait, and before it was %v", after, before)
	}
	changed.Argv = []string{"sleep", "600"}
	ctx, cancel := context.WithCancel(t.Context())
	id, ended := started(t, ctx, d, changed)
	if id != after[0] {
		t.Errorf("it ran in %s, want the one that waited, %s", id, after[0])
	}
	cancel()
	<-ended
	for range warmpool.MaxRenewals {
		d.Forget(cmd.Skill)
		renew(func() (string, error) { return "", failure }, failure)
		d.renewals.Discarded(cmd.Skill)
	}
	renew(never, nil) // a file is written all the time
}
