package docker

import (
	"crypto/rand"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// The labels of every container that this package makes.
const (
	labelInstance = "skills-mcp.instance" // whose it is: the driver that removes it
	labelRun      = "skills-mcp.run"
	labelSkill    = "skills-mcp.skill"
)

const (
	// hostname is the same in every sandbox, so that nothing of the host shows.
	hostname = "sandbox"
	// sharedMemory bounds /dev/shm, which Python's multiprocessing needs. Like
	// /tmp it is in memory, is gone with the container, and counts as its
	// memory.
	sharedMemory = 64 << 20
	// fileSize bounds one file in a writable workspace. It is above what fits
	// into /tmp, so that a full /tmp is an error there and not a signal.
	fileSize = 1 << 30
	// sacrifice makes the kernel end a sandbox before anything else of the
	// host's when memory runs out. Raising it needs no privilege.
	sacrifice = 500
)

// A spec is what an engine is told of one container.
type spec struct {
	name   string
	config *container.Config
	host   *container.HostConfig
}

// newSpec returns the container that cmd runs in on e. Its error is about the
// command.
func newSpec(cmd *sandbox.Command, image *image, e *engine, instance string) (*spec, error) {
	env := cmd.Environ()
	if err := checkStrings(cmd.Argv, env); err != nil {
		return nil, err
	}
	host, err := hostConfig(cmd, image, e)
	if err != nil {
		return nil, err
	}
	stopTimeout := 0 // what an engine that stops gives it
	return &spec{
		name: fmt.Sprintf("skills-mcp-%s-%s", cmd.RunID, strings.ToLower(rand.Text()[:6])),
		host: host,
		config: &container.Config{
			Image:    image.ref,
			Hostname: hostname,
			User:     user(),
			// All of argv is the entry point, so that none of the image's
			// comes before or after it.
			Entrypoint:   cmd.Argv,
			Env:          env,
			WorkingDir:   sandbox.SkillDir,
			AttachStdin:  cmd.Stdin != nil,
			AttachStdout: true,
			AttachStderr: true,
			OpenStdin:    cmd.Stdin != nil,
			StdinOnce:    cmd.Stdin != nil,
			Healthcheck:  &container.HealthConfig{Test: []string{"NONE"}},
			StopTimeout:  &stopTimeout,
			Labels: map[string]string{
				labelInstance: instance,
				labelRun:      cmd.RunID,
				labelSkill:    cmd.Skill,
			},
		},
	}, nil
}

// hostConfig is what keeps the command in.
func hostConfig(cmd *sandbox.Command, image *image, e *engine) (*container.HostConfig, error) {
	mounts, err := mounts(cmd, image)
	if err != nil {
		return nil, err
	}
	reap := true
	return &container.HostConfig{
		Runtime:        e.runtime,
		NetworkMode:    "none",
		IpcMode:        container.IPCModePrivate,
		CgroupnsMode:   container.CgroupnsModePrivate,
		ReadonlyRootfs: true,
		CapDrop:        []string{"ALL"},
		// Nothing is said of seccomp: the engine's default profile stays.
		SecurityOpt: []string{"no-new-privileges:true"},
		Init:        &reap,
		// The output is read from the stream alone; a copy of it in a log of
		// the engine's would fill its disk.
		LogConfig:   container.LogConfig{Type: "none"},
		ShmSize:     sharedMemory,
		OomScoreAdj: sacrifice,
		Mounts:      mounts,
		Tmpfs:       temporary(cmd.Limits, mounts),
		Resources:   resources(cmd.Limits, e.info.NCPU),
	}, nil
}

// temporary are the places that a command may write to. Programs may be built
// and run in /tmp; what is in /out is only ever read.
func temporary(limits sandbox.Limits, mounts []mount.Mount) map[string]string {
	options := fmt.Sprintf("rw,nosuid,nodev,mode=1777,size=%d", limits.Tmp)
	all := map[string]string{
		"/tmp":         options + ",exec",
		sandbox.OutDir: options + ",noexec",
	}
	if hidden(mounts) {
		// Runtimes give a tmpfs the mode of what it covers, whatever is asked for,
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
		return strings.HasPrefix(m.Target, rootHome+"/")
	})
}

// resources are the limits that the engine keeps.
func resources(limits sandbox.Limits, cpus int) container.Resources {
	nano := int64(limits.CPUs * 1e9)
	if most := int64(cpus) * 1e9; most > 0 && nano > most {
		nano = most // an engine refuses more than it has
	}
	ulimit := func(name string, value int64) *container.Ulimit {
		return &container.Ulimit{Name: name, Soft: value, Hard: value}
	}
	return container.Resources{
		Memory:     limits.Memory,
		MemorySwap: limits.Memory, // together with swap: there is none
		NanoCPUs:   nano,
		PidsLimit:  &limits.PIDs,
		Ulimits: []*container.Ulimit{
			ulimit("nofile", limits.Files),
			ulimit("fsize", max(fileSize, 2*limits.Tmp)),
			ulimit("core", 0),
		},
	}
}

func user() string {
	uid, gid := sandbox.User()
	return fmt.Sprintf("%d:%d", uid, gid)
}

// searchPath returns where the command's program is looked for.
func searchPath(env, imageEnv []string) []string {
	value := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" // the engine's default
	for _, entry := range slices.Concat(imageEnv, env) {
		if v, found := strings.CutPrefix(entry, "PATH="); found {
			value = v
		}
	}
	var dirs []string
	for _, dir := range strings.Split(value, ":") {
		if path.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
