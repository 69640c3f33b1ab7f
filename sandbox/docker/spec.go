package docker

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// The labels of every container that this package makes.
const (
	labelInstance = "skills-mcp.instance" // whose it is: the driver that removes it
	labelHome     = "skills-mcp.home"     // the folder with that driver's lease; see lease.go
	labelExpires  = "skills-mcp.expires"  // when it may be removed by anybody, in seconds since 1970
	labelSkill    = "skills-mcp.skill"
)

const (
	// hostname is the same in every sandbox, so that nothing of the host shows.
	hostname = "sandbox"
	// sharedMemory bounds /dev/shm, which Python's multiprocessing needs. Like
	// /tmp it is in memory, is gone with the container, and counts as its
	// memory.
	sharedMemory = 64 << 20
	// minInodes and bytesPerInode bound how many files /tmp and /out hold.
	minInodes     = 4096
	bytesPerInode = 4096
	// sentryThreads are the threads that gVisor's own kernel takes of a limit on
	// processes; at the limit, it ends the whole sandbox.
	sentryThreads = 256
	// timerProcesses is the number of processes that keep a container's own deadline.
	timerProcesses = 2
	// sacrifice makes the kernel end a sandbox before anything else of the
	// host's when memory runs out. Raising it needs no privilege.
	sacrifice = 500
)

// A spec describes one container to an engine: all that a command needs to have ready,
// and nothing of the command itself.
type spec struct {
	config *container.Config
	host   *container.HostConfig
}

// newSpec returns the container that commands like cmd run in on e. Its error
// is about the command.
func newSpec(cmd *sandbox.Command, image *image, e *engine) (*spec, error) {
	if err := shellproto.Check(cmd); err != nil {
		return nil, err
	}
	host, err := hostConfig(cmd, image, e)
	if err != nil {
		return nil, err
	}
	stopTimeout := 0 // seconds, for an engine that stops
	return &spec{
		host: host,
		config: &container.Config{
			// Not the role's reference, which may name another image in a moment.
			Image:    image.id,
			Hostname: hostname,
			User:     user(),
			// All of the command line is the entry point, so that none of the
			// image's comes before or after it.
			Entrypoint:      []string{"/bin/sh", "-c", shellproto.FirstScript},
			Env:             (&sandbox.Command{}).Environ(),
			WorkingDir:      sandbox.SkillDir,
			NetworkDisabled: e.bare(cmd),
			AttachStdin:     true,
			AttachStdout:    true,
			AttachStderr:    true,
			OpenStdin:       true,
			StdinOnce:       true,
			Healthcheck:     &container.HealthConfig{Test: []string{"NONE"}},
			StopTimeout:     &stopTimeout,
			Labels:          map[string]string{labelSkill: cmd.Skill},
		},
	}, nil
}

// key returns the same for containers of one engine that can replace each other. It
// omits the texts that are the same for all of them: with them it takes 4 times as long.
func (s *spec) key() string {
	config, host := *s.config, *s.host
	config.Entrypoint, host.SecurityOpt = nil, nil
	text, _ := json.Marshal([]any{&config, &host}) // plain data: it cannot fail
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// claimed returns s as a container of a driver's.
func (s *spec) claimed(labels map[string]string) *spec {
	config := *s.config
	config.Labels = map[string]string{}
	maps.Copy(config.Labels, s.config.Labels)
	maps.Copy(config.Labels, labels)
	host := *s.host // the client changes it
	return &spec{&config, &host}
}

// through returns s as a container whose shell is at pipes.
func (s *spec) through(p *pipes) *spec {
	config, host := *s.config, *s.host
	config.Entrypoint = []string{"/bin/sh", "-c", shellproto.PipedScript(pipesDir)}
	config.AttachStdout, config.AttachStderr = false, false
	host.Mounts = append(slices.Clone(host.Mounts), bind(p.dir, pipesDir, false))
	return &spec{&config, &host}
}

// on returns s with another folder of the skill.
func (s *spec) on(folder string) *spec {
	host := *s.host
	host.Mounts = slices.Clone(host.Mounts)
	host.Mounts[0].Source = folder
	return &spec{s.config, &host}
}

// hostConfig returns the isolation of commands like cmd.
func hostConfig(cmd *sandbox.Command, image *image, e *engine) (*container.HostConfig, error) {
	mounts, err := mounts(cmd, image)
	if err != nil {
		return nil, err
	}
	if e.bare(cmd) {
		mounts = append(mounts, bind(e.hosts, "/etc/hosts", false))
	}
	if err := e.checkMounts(mounts); err != nil {
		return nil, err
	}
	if len(cmd.Grant.Hosts) > 0 {
		if e.forwarder == "" {
			return nil, noForwarder()
		}
		mounts = append(mounts, bind(e.forwarder, forwarder, false))
	}
	return &container.HostConfig{
		Runtime:        e.runtime,
		NetworkMode:    "none",
		IpcMode:        container.IPCModePrivate,
		CgroupnsMode:   container.CgroupnsModePrivate,
		ReadonlyRootfs: true,
		CapDrop:        []string{"ALL"},
		SecurityOpt:    securityOptions(e),
		// The output is read from the stream alone; a copy of it in a log of
		// the engine's would fill its disk.
		LogConfig:   container.LogConfig{Type: "none"},
		ShmSize:     sharedMemory,
		OomScoreAdj: sacrifice,
		Mounts:      mounts,
		Tmpfs:       temporary(cmd.Limits, mounts, e),
		Resources:   resources(cmd.Limits, e),
	}, nil
}

func securityOptions(e *engine) []string {
	options := []string{"no-new-privileges:true"}
	if filter := e.seccompOption(); filter != "" {
		options = append(options, filter)
	}
	return options
}

// temporary returns the options of the tmpfs folders that a command may write to, by
// path. Programs may be built and run in /tmp; files in /out are only read.
func temporary(limits sandbox.Limits, mounts []mount.Mount, e *engine) map[string]string {
	options := fmt.Sprintf("rw,nosuid,nodev,mode=1777,size=%d", limits.Tmp)
	if !e.podman() { // which does not know the option
		// An empty file takes memory too, which no size counts.
		options += fmt.Sprintf(",nr_inodes=%d", max(minInodes, limits.Tmp/bytesPerInode))
	}
	all := map[string]string{
		"/tmp":         options + ",exec",
		sandbox.OutDir: options + ",noexec",
	}
	for _, dir := range e.writable() {
		all[dir] = "ro,nosuid,nodev,noexec,size=64k"
	}
	if hidden(mounts) {
		// Runtimes give a tmpfs the mode of the folder that it covers, in any case,
		// so this one is the command's own.
		uid, gid := sandbox.User()
		all[rootHome] = fmt.Sprintf("ro,nosuid,nodev,noexec,size=64k,uid=%d,gid=%d", uid, gid)
	}
	return all
}

// rootHome is root's home folder, which images keep to root.
const rootHome = "/root"

// hidden reports whether something is mounted where a command could not reach
// it for the image's own rootHome.
func hidden(mounts []mount.Mount) bool {
	return at(mounts, rootHome) == nil && slices.ContainsFunc(mounts, func(m mount.Mount) bool {
		return sandbox.Within(m.Target, rootHome)
	})
}

// resources are the limits that the engine keeps.
func resources(limits sandbox.Limits, e *engine) container.Resources {
	nano := int64(limits.CPUs * 1e9)
	if most := int64(e.info.NCPU) * 1e9; most > 0 && nano > most {
		nano = most // an engine refuses more than it has
	}
	pids := limits.PIDs + timerProcesses
	if e.ownKernel() {
		pids += sentryThreads
	}
	ulimit := func(name string, value int64) *container.Ulimit {
		return &container.Ulimit{Name: name, Soft: value, Hard: value}
	}
	return container.Resources{
		Memory:     limits.Memory,
		MemorySwap: limits.Memory, // together with swap: there is none
		NanoCPUs:   nano,
		PidsLimit:  &pids,
		Ulimits: []*container.Ulimit{
			ulimit("nofile", limits.Files),
			// Above the size of /tmp, so that a full /tmp is an error there and
			// not a signal.
			ulimit("fsize", max(limits.File, 2*limits.Tmp)),
			ulimit("core", 0),
			ulimit("sigpending", sandbox.MaxSignals),
			ulimit("msgqueue", 0),
		},
	}
}

func user() string {
	uid, gid := sandbox.User()
	return fmt.Sprintf("%d:%d", uid, gid)
}
