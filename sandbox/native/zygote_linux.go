//go:build amd64 || arm64

package native

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A zygote is a process that is started once and then forks all inits: a fork
// costs a fraction of the start of a process of this program.
type zygote struct {
	process *os.Process
	ended   chan struct{} // closed by its thread when the process has ended

	mu      sync.Mutex // held for each request and its reply
	control *messenger
}

// startZygote starts one and waits until it is ready.
func startZygote(h *host) (*zygote, error) {
	server, theirs, err := newSocketPair()
	if err != nil {
		return nil, err
	}
	z := &zygote{control: newMessenger(server), ended: make(chan struct{})}
	err = z.start(h, theirs)
	_ = theirs.Close()
	if err != nil {
		server.close()
		return nil, err
	}
	if _, err := z.ask(&zygoteConfig{Layout: *h.layout, Generic: h.generic.pack(nil, kindGeneric)}, nil); err != nil {
		z.close()
		return nil, err
	}
	return z, nil
}

// start starts the process.
func (z *zygote) start(h *host, theirs *os.File) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	started := make(chan error)
	go func() {
		// The kernel kills the zygote when the thread that started it ends, as it
		// does at any end of the server. So one thread does this and
		// then does nothing but wait.
		runtime.LockOSThread()
		defer close(z.ended)
		process, err := os.StartProcess(h.program.path, []string{initName}, zygoteAttributes(h.user, null, theirs))
		z.process = process
		started <- err
		if err == nil {
			_, _ = process.Wait() // how it ends tells nothing
		}
	}()
	return <-started
}

func zygoteAttributes(user identity, null, control *os.File) *os.ProcAttr {
	uids, gids := user.mappings()
	attributes := &syscall.SysProcAttr{
		// It is the first of its own namespace of processes, so that all forks end
		// with it.
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID,
		UidMappings: uids,
		GidMappings: gids,
		Setsid:      true,
		Pdeathsig:   unix.SIGKILL,
		// For the forks, in their own namespaces. A user other than 0 has no
		// others after an exec.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE},
	}
	if user.changes {
		attributes.Credential = &syscall.Credential{Uid: uint32(user.uid), Gid: uint32(user.gid)}
		attributes.GidMappingsEnableSetgroups = true // to drop root's groups
	}
	return &os.ProcAttr{
		Dir: "/",
		// Few threads, and little memory.
		Env:   []string{"GOMAXPROCS=1", "GOGC=25", "GODEBUG=asyncpreemptoff=1,containermaxprocs=0"},
		Files: []*os.File{null, null, null, control},
		Sys:   attributes,
	}
}

// errZygote says that the zygote ended before it answered.
var errZygote = errors.New("the process that makes sandboxes has ended")

// ask sends a message with descriptors, and returns the descriptors of the
// reply.
func (z *zygote) ask(m any, fds []int) ([]int, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if err := z.control.send(m, fds); err != nil {
		return nil, errors.Join(errZygote, err)
	}
	var a reply
	got, err := z.control.receive(&a)
	if err != nil {
		return nil, errors.Join(errZygote, err)
	}
	if a.Failed.Step != "" {
		closeAll(got)
		return nil, &a.Failed
	}
	return got, nil
}

// fork starts an init, and returns a descriptor of the process.
func (z *zygote) fork(control *os.File, groups []int) (pidfd int, err error) {
	got, err := z.ask(&request{Fork: true}, append([]int{int(control.Fd())}, groups...))
	if err != nil {
		return -1, err
	}
	if len(got) != 1 {
		closeAll(got)
		return -1, errZygote
	}
	return got[0], nil
}

// open returns open trees of mounts.
func (z *zygote) open(mounts []mount) ([]int, error) {
	return z.ask(&request{Mounts: mounts}, nil)
}

// close ends the zygote, and all its inits with it, and waits for it alone.
func (z *zygote) close() {
	z.control.close()
	_ = z.process.Kill()
	<-z.ended
}
