//go:build unix

package sandboxtest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A bystander is a process of the host's, of the user that commands run as.
type bystander struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// newBystander starts one that has a variable in its environment, and nothing
// else.
func newBystander(t *testing.T, variable string) *bystander {
	t.Helper()
	b := &bystander{cmd: exec.Command("sleep", "3600"), ended: make(chan struct{})}
	b.cmd.Env = []string{variable}
	b.cmd.Dir = "/"
	if os.Geteuid() == 0 {
		uid, gid := sandbox.User()
		b.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}}
	}
	if err := b.cmd.Start(); err != nil && os.Geteuid() == 0 { // a user namespace may lack the user
		b.cmd = exec.Command("sleep", "3600")
		b.cmd.Env, b.cmd.Dir = []string{variable}, "/"
		must(t, b.cmd.Start())
	} else {
		must(t, err)
	}
	go func() {
		defer close(b.ended)
		_ = b.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = b.cmd.Process.Kill()
		<-b.ended
	})
	return b
}

func (b *bystander) alive() bool {
	select {
	case <-b.ended:
		return false
	default:
		return true
	}
}

// leakDescriptor leaves a file open that programs inherit, as a careless library
// of the server's might.
func leakDescriptor(t *testing.T, name string) {
	t.Helper()
	fd, err := syscall.Open(name, syscall.O_RDONLY, 0)
	must(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
}
