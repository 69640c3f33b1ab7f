package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker/seccomp"
)

const (
	// oldestAPI is that of Docker 20.10, and of Podman's compatible service.
	oldestAPI = "1.41"
	// answerTimeout bounds an engine's answer about itself.
	answerTimeout = 10 * time.Second
	// hungTimeout bounds the wait for an engine's answer to a ping.
	hungTimeout = 3 * time.Second
)

// An engine has answered and described itself. It does not change.
type engine struct {
	id      string // tells it from engines that were found before or after
	api     *client.Client
	host    string
	kind    string // "docker" or "podman"
	info    system.Info
	version string
	runtime string // of new containers; "" is the engine's default
	hosts   string // the host file that containers see as /etc/hosts; "" leaves it to the engine

	programs programs // that its images have

	profile string // a host file with the system call filter; "" without one

	forwarder string // the host file of the program that listens in containers; "" without one

	pipes   string      // the host folder of containers' pipes; "" without one
	unpiped atomic.Bool // containers do not come to their pipes
}

// bare reports whether containers get no network of the engine's at all, rather
// than its network "none". They have a network namespace of their own either
// way, with a loopback interface and nothing else; but for "none" Docker runs
// itself twice more to set it up, which is half of the work of starting a
// container (measured: 113 ms instead of 225 ms of processor time). Only
// /etc/hosts is missing then, and, as gVisor's kernel has it, the address of the loopback
// interface, at which the forwarder listens.
func (e *engine) bare(cmd *sandbox.Command) bool {
	return e.kind == "docker" && e.hosts != "" && !(e.ownKernel() && len(cmd.Grant.Hosts) > 0)
}

// piped reports whether containers are reached through pipes, not through e. gVisor and
// Kata do not pass a pipe's file on, and Podman is left as it is.
func (e *engine) piped() bool {
	return e.pipes != "" && e.kind == "docker" && !e.unpiped.Load() && cmp.Or(e.runtime, e.info.DefaultRuntime) == "runc"
}

// ownKernel reports whether each container has a kernel of its own: gVisor's.
func (e *engine) ownKernel() bool { return strings.HasPrefix(e.runtime, "runsc") }

// sandbox returns the name of e's sandboxes in results.
func (e *engine) sandbox() string {
	name := e.runtime
	name = cmp.Or(name, e.info.DefaultRuntime)
	if name == "" {
		return e.kind
	}
	return fmt.Sprintf("%s (%s)", e.kind, name)
}

// open connects to the engine at host and has it describe itself.
func open(ctx context.Context, host, runtime string) (*engine, error) {
	host, local := address(host)
	if !local {
		return nil, notLocal(host)
	}
	api, err := client.NewClientWithOpts(
		// An engine's restart leaves no dead connection behind when none is
		// kept, and a local one costs next to nothing.
		client.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}),
		client.WithHost(host),
		client.WithAPIVersionNegotiation(),
	)
	if err != nil {
		return nil, fmt.Errorf("use %s: %w", host, err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	e := &engine{id: rand.Text(), api: api, host: host}
	if err := e.ask(ctx); err != nil {
		return nil, err
	}
	e.runtime, err = chooseRuntime(runtime, e.info)
	return e, err
}

// ask fills in the engine's description of itself. The error is about an engine that
// cannot be used.
func (e *engine) ask(ctx context.Context) error {
	ping, err := e.api.Ping(ctx)
	if err != nil {
		return err
	}
	if versions.LessThan(ping.APIVersion, oldestAPI) {
		return &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the Docker engine at %s speaks API version %s, and at least %s is needed", e.host, ping.APIVersion, oldestAPI),
			Remedy: "update the engine to Docker 20.10 or later, or Podman 4 or later",
		}
	}
	if e.info, err = e.api.Info(ctx); err != nil {
		return err
	}
	if e.info.OSType != "" && e.info.OSType != "linux" {
		return &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the Docker engine at %s runs %s containers, and Linux containers are needed", e.host, e.info.OSType),
			Remedy: "switch Docker Desktop to Linux containers",
		}
	}
	version, err := e.api.ServerVersion(ctx)
	if err != nil {
		return err
	}
	e.kind, e.version = "docker", version.Version
	for _, component := range version.Components {
		if strings.HasPrefix(component.Name, "Podman") {
			e.kind = "podman"
		}
	}
	return nil
}

// chooseRuntime returns the runtime to create containers with.
func chooseRuntime(wanted string, info system.Info) (string, error) {
	if wanted == "" {
		return "", nil
	}
	installed := slices.Sorted(maps.Keys(info.Runtimes))
	if wanted == RuntimeAuto {
		return strongest(installed), nil
	}
	if !slices.Contains(installed, wanted) {
		return "", &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the Docker engine has no runtime %q; it has %s", wanted, strings.Join(installed, ", ")),
			Remedy: "install the runtime, or change the setting sandbox.runtime",
		}
	}
	return wanted, nil
}

// strongest returns the runtime that keeps most between a command and the
// host's kernel, and "" when that is the engine's default.
func strongest(installed []string) string {
	for _, kind := range []string{"runsc", "kata"} {
		i := slices.IndexFunc(installed, func(name string) bool {
			return strings.HasPrefix(name, kind) || strings.HasPrefix(name, "io.containerd."+kind+".")
		})
		if i >= 0 {
			return installed[i]
		}
	}
	return ""
}

// failed explains an error of the engine to a person.
func (e *engine) failed(doing string, err error) error {
	if errors.Is(err, errHangs) {
		return &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the Docker engine at %s does not answer", e.host),
			Remedy: "restart it, and try again" + nativeInstead,
			Err:    fmt.Errorf("%s: %w: %w", doing, errLost, err),
		}
	}
	if gone(err) {
		return &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the Docker engine at %s went away", e.host),
			Remedy: "start it, and try again",
			Err:    fmt.Errorf("%s: %w: %w", doing, errLost, err),
		}
	}
	cause := fmt.Errorf("%s: %w", doing, err)
	message := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	for _, known := range explanations() {
		if strings.Contains(strings.ToLower(message), known.says) {
			return &sandbox.UnavailableError{
				Reason: fmt.Sprintf("%s (%s)", known.reason, message),
				Remedy: known.remedy,
				Err:    cause,
			}
		}
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the Docker engine could not %s: %s", doing, message),
		Remedy: "see what skills-mcp doctor says" + nativeInstead,
		Err:    cause,
	}
}

// hangs reports whether nothing comes from an engine. One that is gone does not
// hang: it refuses the connection.
func (e *engine) hangs(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, hungTimeout)
	defer cancel()
	_, err := e.api.Ping(ctx)
	return err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

func (e *engine) podman() bool { return e.kind == "podman" }

// seccompOption is the security option with our system call filter. Docker takes
// its text, and Podman the name of a file that holds it. Where Podman cannot be
// told, its own default stays, and "" is returned.
func (e *engine) seccompOption() string {
	switch {
	case !e.podman():
		return "seccomp=" + seccomp.Profile()
	case e.profile != "":
		return "seccomp=" + e.profile
	}
	return ""
}

// checkMounts returns an error for mounts that Podman would change: it writes them as
// text, in which a comma begins the next option, and creates folders that are missing.
func (e *engine) checkMounts(mounts []mount.Mount) error {
	if !e.podman() {
		return nil
	}
	for _, m := range mounts {
		if m.Type != mount.TypeBind {
			continue
		}
		if strings.ContainsAny(m.Source+m.Target, ",\"\r\n") {
			return fmt.Errorf("mount workspace %q: Podman cannot mount a folder whose path has a comma, a quote or a line break; rename it, or set sandbox.driver: native", m.Source)
		}
		if _, err := os.Stat(m.Source); err != nil {
			return fmt.Errorf("mount a folder: %w", err)
		}
	}
	return nil
}

// writable are folders that Podman makes writable in a root that is read-only.
func (e *engine) writable() []string {
	if !e.podman() {
		return nil
	}
	return []string{"/run", "/var/tmp"}
}

// RuntimeAuto as [Options.Runtime] takes the strongest runtime that the engine
// has: runsc (gVisor), then Kata Containers, then the engine's default.
const RuntimeAuto = "auto"

// find returns the engine at host, or, where that is "", the first of places that answers
// and can be used.
func find(ctx context.Context, host string, places Places, runtime string) (*engine, error) {
	hosts := []string{host}
	if host == "" {
		hosts = places.Hosts()
	}
	var failures []failure
	for _, host := range hosts {
		e, err := open(ctx, host, runtime)
		if err == nil {
			return e, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		failures = append(failures, failure{host, err})
	}
	return nil, noEngine(failures)
}

// programs caches the programs that images have. An image's id is that of its content,
// so a program that was found once stays there.
type programs struct{ known sync.Map } // of programOf, to nothing

type programOf struct{ image, program string }

// has reports whether the program of cmd is known to be in its image.
func (p *programs) has(imageID string, cmd *sandbox.Command) bool {
	_, known := p.known.Load(programOf{imageID, cmd.Argv[0]})
	return known && !setsPath(cmd)
}

// add notes that a command has begun, and so has its program.
func (p *programs) add(imageID string, cmd *sandbox.Command) {
	if !setsPath(cmd) {
		p.known.Store(programOf{imageID, cmd.Argv[0]}, nil)
	}
}

// setsPath reports whether a command has its programs looked for elsewhere.
func setsPath(cmd *sandbox.Command) bool {
	return slices.ContainsFunc(cmd.Env, func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
}
