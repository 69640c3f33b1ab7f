//go:build amd64 || arm64

package native

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// otherUser says that these tests run as one already.
const otherUser = "SKILLS_MCP_TEST_OTHER_USER"

// TestOtherUsers runs the tests again as an ordinary user, and as the root of a
// user namespace that has no other users.
func TestOtherUsers(t *testing.T) {
	if os.Getenv(otherUser) != "" {
		t.Skip("this is another user's run")
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can become another user; these tests ran as an ordinary one")
	}
	const id = 1000
	for name, attributes := range map[string]*syscall.SysProcAttr{
		"ordinary": {Credential: &syscall.Credential{Uid: id, Gid: id}},
		"namespace": {
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}},
			Credential:  &syscall.Credential{NoSetGroups: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tests := exec.Command("/proc/self/exe", "-test.v", "-test.skip", "TestSyscallTable")
			tests.Env = append(os.Environ(), otherUser+"="+name, "HOME=/tmp")
			tests.SysProcAttr = attributes
			out, err := tests.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("--- PASS: TestSuite")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
