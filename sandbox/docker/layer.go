package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// layerDir is where dependencies are in an image: its folder "python" is in
	// PYTHONPATH, and "node" is Node's.
	layerDir = "/opt/skill-deps"
	// layerTimeout bounds the installation of one skill's dependencies.
	layerTimeout = 15 * time.Minute
	// maxLayer bounds what is installed, in bytes.
	maxLayer = 2 << 30
	// installerLog bounds what the engine keeps of an installer's output.
	installerLog = "4m"
)

// buildLayer installs the dependencies of l in a container and makes an image of
// it. The container is as hardened as a command's, but has the network and a
// file system that can be written; the installer is nobody there, and can write
// into layerDir.
func (d *Driver) buildLayer(ctx context.Context, e *engine, l *layer, report func(string)) error {
	what := languageOf(l.deps.Kind) + " packages"
	ctx, cancel := context.WithTimeoutCause(ctx, layerTimeout, &sandbox.LimitError{Limit: sandbox.LimitTime, Value: layerTimeout.String()})
	defer cancel()
	b, err := d.create(ctx, e, l.spec(e))
	if err != nil {
		return err
	}
	defer d.remove(e, b.id)
	err = d.install(ctx, b, l, func(line string) { report("installing " + what + ": " + line) })
	if err == nil {
		err = l.commit(ctx, b)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		_, pruneErr := d.prune(ctx, e, LayerUnused)
		if pruneErr != nil {
			d.log.Warn("images that nobody uses are left on the Docker engine", "error", pruneErr)
		}
	}
	return err
}

// spec is the container in which l is installed.
func (l *layer) spec(e *engine) *spec {
	reap := true
	return &spec{
		config: &container.Config{
			Image:       l.base.id,
			Hostname:    hostname,
			User:        fmt.Sprintf("%d:%d", sandbox.Nobody, sandbox.Nobody),
			Entrypoint:  []string{"sh", layerDir + "/build/install", layerDir},
			Env:         []string{"PATH=" + l.installerPath()},
			Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		},
		host: &container.HostConfig{
			Runtime:      e.runtime,
			NetworkMode:  "default",
			IpcMode:      container.IPCModePrivate,
			CgroupnsMode: container.CgroupnsModePrivate,
			CapDrop:      []string{"ALL"},
			SecurityOpt:  securityOptions(e),
			Init:         &reap,
			LogConfig:    container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": installerLog}},
			OomScoreAdj:  sacrifice,
			Tmpfs:        map[string]string{"/tmp": fmt.Sprintf("rw,nosuid,nodev,noexec,mode=1777,size=%d", l.limits.Tmp)},
			Resources:    resources(l.limits, e),
		},
	}
}

// installerPath is where the installer looks for programs: not among those of
// packages that were installed before, which must not be run with the network.
func (l *layer) installerPath() string {
	dirs := slices.DeleteFunc(strings.Split(searchPath(l.base.env), ":"), func(dir string) bool { return strings.HasPrefix(dir, layerDir+"/") })
	return strings.Join(dirs, ":")
}

// install runs the installer in b.
func (d *Driver) install(ctx context.Context, b *box, l *layer, say func(line string)) error {
	files, err := l.files(d.layers.env)
	if err != nil {
		return err
	}
	api := b.engine.api
	if err := api.CopyToContainer(ctx, b.id, "/", files, container.CopyToContainerOptions{}); err != nil {
		return b.engine.failed("prepare the installation", err)
	}
	if err := api.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		return b.engine.failed("start the installer", err)
	}
	output := &transcript{each: say, hide: d.layers.secrets}
	if err := b.follow(ctx, output); err != nil {
		return b.engine.failed("read what the installer prints", err)
	}
	return b.installed(ctx, l, output)
}

// follow writes what b prints to w, until it has ended.
func (b *box) follow(ctx context.Context, w io.Writer) error {
	logs, err := b.engine.api.ContainerLogs(ctx, b.id, container.LogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
	if err != nil {
		return err
	}
	defer logs.Close()
	_, err = stdcopy.StdCopy(w, w, logs)
	return err
}

// installed returns nil where the installer in b has ended well and has not
// installed too much.
func (b *box) installed(ctx context.Context, l *layer, output *transcript) error {
	ended, failed := b.engine.api.ContainerWait(ctx, b.id, container.WaitConditionNotRunning)
	var code int64
	select { // the client sends to one of them
	case end := <-ended:
		code = end.StatusCode
	case err := <-failed:
		return b.engine.failed("wait for the installer", err)
	}
	found, _, err := b.engine.api.ContainerInspectWithRaw(ctx, b.id, true)
	if err != nil {
		return b.engine.failed("see how the installation ended", err)
	}
	switch {
	case found.State != nil && found.State.OOMKilled:
		return &sandbox.LimitError{Limit: sandbox.LimitMemory, Value: sandbox.Bytes(l.limits.Memory)}
	case code != 0:
		return &installError{fmt.Sprintf("%s (exit code %d)", output, code)}
	case found.SizeRw != nil && *found.SizeRw > maxLayer:
		return &installError{fmt.Sprintf("they take %s, and at most %s are kept", sandbox.Bytes(*found.SizeRw), sandbox.Bytes(maxLayer))}
	}
	return nil
}

// commit makes an image of b.
func (l *layer) commit(ctx context.Context, b *box) error {
	changes := []string{
		"ENTRYPOINT []",
		// These are the container's, which goes away.
		"LABEL " + labelInstance + `="" ` + labelHome + `="" ` + labelExpires + `=""`,
		"LABEL " + labelLayer + "=" + quote(l.deps.Digest),
		"LABEL " + labelKind + "=" + quote(l.deps.Kind),
		"LABEL " + labelPackages + "=" + quote(strings.Join(l.deps.Packages, ", ")),
		"LABEL " + labelBase + "=" + quote(l.base.ref),
		"LABEL " + labelBaseID + "=" + quote(l.base.id),
	}
	for _, entry := range l.environ() {
		name, value, _ := strings.Cut(entry, "=")
		changes = append(changes, "ENV "+name+"="+quote(value))
	}
	_, err := b.engine.api.ContainerCommit(ctx, b.id, container.CommitOptions{Reference: l.ref, Comment: "dependencies of a skill", Changes: changes, Config: &container.Config{}})
	if err != nil {
		return b.engine.failed("keep the dependencies", err)
	}
	return nil
}

// environ is what lets a command find its dependencies. Programs of packages
// come last in PATH: they must not stand in the way of the image's.
func (l *layer) environ() []string {
	path := searchPath(l.base.env)
	if l.deps.Kind == sandbox.Node {
		modules := layerDir + "/node/node_modules"
		return []string{"PATH=" + path + ":" + modules + "/.bin", "NODE_PATH=" + after(modules, l.base.env, "NODE_PATH")}
	}
	packages := layerDir + "/python"
	return []string{"PATH=" + path + ":" + packages + "/bin", "PYTHONPATH=" + after(packages, l.base.env, "PYTHONPATH")}
}

// searchPath returns the folders in which an image looks for programs.
func searchPath(env []string) string {
	for _, entry := range env {
		if value, found := strings.CutPrefix(entry, "PATH="); found {
			return value
		}
	}
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" // the engine's default
}

// after returns a search path that begins with first and goes on as in env.
func after(first string, env []string, name string) string {
	for _, entry := range env {
		if value, found := strings.CutPrefix(entry, name+"="); found && value != "" {
			return first + ":" + value
		}
	}
	return first
}

// quote writes a value as a Dockerfile does.
func quote(value string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "\n", " ", "\r", " ").Replace(value)
	return `"` + escaped + `"`
}

// files is what the installer finds in its container, as a tar archive: folders
// of its own, the lock, itself, and an environment that is not to be kept.
func (l *layer) files(env []string) (io.Reader, error) {
	var buffer bytes.Buffer
	a := &archive{tar.NewWriter(&buffer), nil}
	dir := strings.TrimPrefix(layerDir, "/")
	a.folder(dir)
	a.folder(dir + "/build")
	a.folder(dir + "/" + l.deps.Kind)
	if l.deps.Kind == sandbox.Node {
		// Modules of the kind that is imported are looked for in the folders above
		// a script, and nowhere else.
		a.add(&tar.Header{Typeflag: tar.TypeSymlink, Name: "node_modules", Linkname: dir + "/node/node_modules", Mode: 0o777}, nil)
	}
	for _, file := range l.deps.Lock {
		a.file(dir+"/build/"+file.Name, 0o644, file.Data)
	}
	a.file(dir+"/build/install", 0o644, l.installer)
	a.file(dir+"/build/environment", 0o600, exports(env))
	return &buffer, errors.Join(a.err, a.Close())
}

// exports is a shell script that sets env.
func exports(env []string) []byte {
	var script bytes.Buffer
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		fmt.Fprintf(&script, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	return script.Bytes()
}

// An archive is a tar archive of what belongs to nobody.
type archive struct {
	*tar.Writer
	err error // the first
}

func (a *archive) add(header *tar.Header, data []byte) {
	header.Uid, header.Gid = sandbox.Nobody, sandbox.Nobody
	header.Size = int64(len(data))
	if a.err == nil {
		a.err = a.WriteHeader(header)
	}
	if a.err == nil {
		_, a.err = a.Write(data)
	}
}

func (a *archive) folder(name string) {
	a.add(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}, nil)
}

func (a *archive) file(name string, mode int64, data []byte) {
	a.add(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode}, data)
}
