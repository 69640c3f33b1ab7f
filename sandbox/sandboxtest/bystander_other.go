//go:build !unix

package sandboxtest

import (
	"os/exec"
	"testing"
)

// A bystander is a process of the host; here there is none.
type bystander struct{}

func newBystander(*testing.T, string) *bystander { return nil }

func (*bystander) alive() bool { return true }

func leakDescriptor(*testing.T, string) {}

func hostCommand(_ int, argv ...string) *exec.Cmd { return exec.Command(argv[0], argv[1:]...) }
