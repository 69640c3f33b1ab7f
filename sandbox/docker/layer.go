package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// The labels of every image that this package makes of dependencies.
const (
	labelLayer    = "skills-mcp.dependencies" // the digest of the dependencies
	labelKind     = "skills-mcp.dependencies.kind"
	labelPackages = "skills-mcp.dependencies.packages"
	labelBase     = "skills-mcp.dependencies.base" // the base image, as configured
	labelBaseID   = "skills-mcp.dependencies.base-id"
)

// layerName is the name of those images; their tags are digests of their content.
const layerName = "skills-mcp-deps"

// installers are the scripts that install dependencies, by their kind.
//
//go:embed install
var installers embed.FS

const (
	// layerDir is where dependencies are in an image: its folder "python" is in
	// PYTHONPATH, and "node" is Node's.
	layerDir = sandbox.DependenciesDir
	// layerTimeout bounds the installation of one skill's dependencies.
	layerTimeout = 15 * time.Minute
	// maxLayer bounds the bytes of an installation.
	maxLayer = 2 << 30
	// installerLog bounds the engine's log of an installer's output.
	installerLog = "4m"
)

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
	dirs := slices.DeleteFunc(strings.Split(searchPath(l.base.env), ":"), func(dir string) bool { return sandbox.Within(dir, layerDir) })
	return strings.Join(dirs, ":")
}

// environ returns the variables by which a command finds its dependencies. Programs of packages
// come last in PATH: they must not hide the image's.
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

// files returns the installer's files as a tar archive: its folders, the lock, the
// installer, and an environment that does not get into the image.
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
		fmt.Fprintf(&script, "export %s=%s\n", name, shellproto.Quote(value))
	}
	return script.Bytes()
}

// An archive is a tar archive of files that belong to nobody.
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

// A layer is an image to be made of another and of dependencies.
type layer struct {
	ref       string
	base      *image
	deps      *sandbox.Dependencies
	installer []byte
	limits    sandbox.Limits
}

// newLayer returns a layer, named by the digest of all that decides its content.
func newLayer(e *engine, base *image, deps *sandbox.Dependencies, limits sandbox.Limits) (*layer, error) {
	installer, err := installers.ReadFile("install/" + deps.Kind)
	if err != nil {
		return nil, fmt.Errorf("install dependencies: unknown kind %q", deps.Kind)
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s", base.id, e.info.Architecture, deps.Digest, installer))
	return &layer{
		ref:       fmt.Sprintf("%s:%x", layerName, key[:16]),
		base:      base,
		deps:      deps,
		installer: installer,
		limits:    limits,
	}, nil
}

// An installError holds the last output of an installer that failed.
type installError struct{ output string }

func (e *installError) Error() string { return e.output }

// failed explains why dependencies cannot be had.
func (l *layer) failed(e *engine, err error) error {
	var unavailable *sandbox.UnavailableError
	var limit *sandbox.LimitError
	var install *installError
	why := engineSays(err)
	switch {
	case errors.As(err, &unavailable), errors.Is(err, context.Canceled):
		return err
	case gone(err):
		return e.failed("install dependencies", err)
	case errors.As(err, &limit):
		why = "the installer was " + limit.Error()
	case errors.As(err, &install):
		why = install.output
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the %s packages that the skill declares cannot be installed into the image %s: %s", languageOf(l.deps.Kind), l.base.ref, why),
		Remedy: "correct what the skill declares, name a package index in sandbox.dependency_env, or set sandbox.dependencies: report",
		Err:    fmt.Errorf("build %s: %w", l.ref, err),
	}
}

// languageOf names a kind for people.
func languageOf(kind string) string {
	return strings.ToUpper(kind[:1]) + kind[1:]
}
