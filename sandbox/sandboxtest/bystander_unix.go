//go:build unix

package sandboxtest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A bystander is a process of the host, of the user that commands run as.
type bystander struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// newBystander starts one with a variable as its environment. It ends with the test.
func newBystander(t *testing.T, variable string) *bystander {
	t.Helper()
	uid, _ := sandbox.User()
	b := &bystander{cmd: hostCommand(uid, "sleep", "3600"), ended: make(chan struct{})}
	b.cmd.Env = []string{variable}
	if err := b.cmd.Start(); err != nil && os.Geteuid() == 0 { // a user namespace may lack the user
		b.cmd = hostCommand(0, "sleep", "3600")
		b.cmd.Env = []string{variable}
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

// hostCommand returns a command on the host, which root runs as user uid.
func hostCommand(uid int, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = "/"
	if os.Geteuid() == 0 && uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), NoSetGroups: true}}
	}
	return cmd
}

// alive reports whether the process has not ended.
func (b *bystander) alive() bool {
	select {
	case <-b.ended:
		return false
	default:
		return true
	}
}

// leakDescriptor opens a file that programs inherit, as a careless library of the server
// might. It is closed with the test.
func leakDescriptor(t *testing.T, name string) {
	t.Helper()
	fd, err := syscall.Open(name, syscall.O_RDONLY, 0)
	must(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
}
