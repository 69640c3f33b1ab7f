//go:build !unix

package git

import "os/exec"

// ownGroup leaves the children of git to git: their pipes end with it.
func ownGroup(cmd *exec.Cmd, terminal bool) {
	cmd.Cancel = func() error { return cmd.Process.Kill() }
}
