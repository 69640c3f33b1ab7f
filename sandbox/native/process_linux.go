//go:build amd64 || arm64

package native

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A process is an init that was started.
type process struct {
	process *os.Process
	ended   chan struct{} // closed by its thread when the init, and with it every process of the sandbox, has ended
}

// startInit starts an init, which waits on control for what to do.
func startInit(h *host, files []*os.File, group *cgroup) (*process, error) {
	p := &process{ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel kills the init when the thread that started it ends, as it
		// does when the server ends in whatever way. So one thread does this
		// and then does nothing but wait.
		runtime.LockOSThread()
		defer close(p.ended)
		attributes := initAttributes(h.user, files)
		err := group.start(attributes.Sys, func() (err error) {
			p.process, err = os.StartProcess(h.program.path, []string{initName}, attributes)
			return err
		})
		started <- err
		if err == nil {
			_, _ = p.process.Wait() // how the init ends tells nothing
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func initAttributes(user identity, files []*os.File) *os.ProcAttr {
	uids, gids := user.mappings()
	attributes := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP,
		UidMappings: uids,
		GidMappings: gids,
		Setsid:      true,
		Pdeathsig:   unix.SIGKILL,
		// What the init needs in its own namespaces. A user other than 0 keeps
		// no others over an exec.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE},
	}
	if user.changes {
		attributes.Credential = &syscall.Credential{Uid: uint32(user.uid), Gid: uint32(user.gid)}
		attributes.GidMappingsEnableSetgroups = true // to drop root's groups
	}
	return &os.ProcAttr{Dir: "/", Env: initEnvironment(), Files: files, Sys: attributes}
}

// initEnvironment keeps Go's runtime from work that a short life does not need:
// threads, collecting garbage, reading the cgroup's limits.
func initEnvironment() []string {
	return []string{"GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1,containermaxprocs=0"}
}

// kill ends every process of the sandbox; it may be called at any time.
func (p *process) kill() { _ = p.process.Kill() }
