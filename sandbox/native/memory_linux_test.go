//go:build amd64 || arm64

package native

import (
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// TestChildOutOfMemory has a command get over the end of one of its processes,
// as it does on every driver. Version 2 of cgroups ends all of them.
func TestChildOutOfMemory(t *testing.T) {
	d := newDriver(t)
	if !slices.ContainsFunc(d.host.cgroups.parents, func(h hierarchy) bool {
		return !h.unified && slices.Contains(h.controllers, "memory")
	}) {
		t.Skip("SKIPPED: no cgroup of version 1 to limit memory with")
	}
	got := try(t, d, sandbox.Command{
		Argv:   []string{"bash", "-c", `python3 -c 'x = b"x" * (400 << 20)'; echo $?`},
		Limits: sandbox.Limits{Memory: 96 << 20},
	})
	if got.err != nil || got.code != 0 || got.stdout != "137\n" {
		t.Errorf("got %+v", got)
	}
}
