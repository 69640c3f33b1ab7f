//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// ownGroup has a command and its children ended together. With the terminal they must
// stay in its foreground group: git then ends its children itself.
func ownGroup(cmd *exec.Cmd, terminal bool) {
	if terminal {
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		return
	}
	// Without the terminal of this process ssh cannot ask on it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
