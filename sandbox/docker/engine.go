package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker/seccomp"
)

const (
	// oldestAPI is that of Docker 20.10, and of Podman's compatible service.
	oldestAPI = "1.41"
	// answerTimeout is how long an engine may take to say what it is.
	answerTimeout = 10 * time.Second
)

// An engine is one that has answered, and what it said of itself. It does not
// change.
type engine struct {
	id      string // tells it from engines that were found before or after
	api     *client.Client
	host    string
	kind    string // "docker" or "podman"
	info    system.Info
	version string
	runtime string // what containers are created with; "" is the engine's default
	hosts   string // the host file that containers see as /etc/hosts; "" leaves it to the engine

	programs programs // that its images have

	profile string // a host file with the system call filter; "" without one

	remote bool        // on another machine
	blind  atomic.Bool // on this machine, but does not see its folders

	forwarder string // the host file of the program that listens in containers; "" without one

	work context.Context // the driver's
}

// bare reports whether containers get no network of the engine's at all, rather
// than its network "none". They have a network namespace of their own either
// way, with a loopback interface and nothing else; but for "none" Docker runs
// itself twice more to set it up, which is half of the work of starting a
// container (measured: 113 ms instead of 225 ms of processor time). What is
// missing then is /etc/hosts.
func (e *engine) bare() bool { return e.kind == "docker" && e.hosts != "" && !e.apart() }

// ownKernel reports whether each container has a kernel of its own: gVisor's.
func (e *engine) ownKernel() bool { return strings.HasPrefix(e.runtime, "runsc") }

// sandbox is what a result says of where the command ran.
func (e *engine) sandbox() string {
	name := e.runtime
	if name == "" {
		name = e.info.DefaultRuntime
	}
	if name == "" {
		return e.kind
	}
	return fmt.Sprintf("%s (%s)", e.kind, name)
}

// connect returns the engine that has answered before, or the first that
// answers now.
func (d *Driver) connect(ctx context.Context) (*engine, error) {
	if e := d.engine.Load(); e != nil {
		return e, nil
	}
	select {
	case d.connecting <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-d.connecting }()
	if e := d.engine.Load(); e != nil { // somebody else found it meanwhile
		return e, nil
	}
	e, err := d.find(ctx)
	if err != nil {
		return nil, err
	}
	if d.lease == nil {
		d.settleIn()
		defer d.watchOrphans()
	}
	e.hosts, e.profile, e.forwarder, e.work = d.hosts, d.profile, d.forwarder, d.work
	d.watchImages(e)
	d.engine.Store(e)
	return e, nil
}

// settleIn makes the files that the driver needs once it has an engine. Without
// them it works too.
func (d *Driver) settleIn() {
	d.lease = &lease{}
	if d.dir == "" {
		return
	}
	lease, err := newLease(d.dir, d.instance)
	if err != nil {
		d.log.Warn("if this server is killed, its containers stay for a day", "reason", err)
		return
	}
	d.lease = lease
	const hosts = "127.0.0.1\tlocalhost " + hostname + "\n::1\tlocalhost\n"
	d.hosts = d.keep("hosts", hosts)
	d.profile = d.keep("seccomp.json", seccomp.Profile())
}

// keep returns a host file with text, which its name tells from others, and ""
// where it cannot be made: then there is a way without it.
func (d *Driver) keep(name, text string) string {
	digest := digestOf(text)[:12]
	file := filepath.Join(d.dir, digest+"-"+name)
	if found, err := readOrMake(file, text, 0o644); err != nil || found != text {
		d.log.Warn("a file for containers cannot be kept", "file", file, "reason", err)
		return ""
	}
	return file
}

// lost forgets e when err says that it is gone, so that the next run looks for
// an engine anew: it may come back, elsewhere or as another version.
func (d *Driver) lost(e *engine, err error) error {
	if client.IsErrConnectionFailed(err) || errors.Is(err, errLost) {
		d.engine.CompareAndSwap(e, nil)
	}
	return err
}

// find returns the first engine that answers and can be used.
func (d *Driver) find(ctx context.Context) (*engine, error) {
	hosts := []string{d.host}
	if d.host == "" {
		hosts = d.places.Hosts()
	}
	var failures []failure
	for _, host := range hosts {
		e, err := open(ctx, host, d.places.certificates(host), d.runtime)
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

// open asks the engine at host what it is.
func open(ctx context.Context, host, certificates, runtime string) (*engine, error) {
	host, local := address(host)
	if strings.HasPrefix(host, "ssh://") {
		return nil, errSSH
	}
	options := []client.Opt{
		// An engine's restart leaves no dead connection behind when none is
		// kept, and a local one costs next to nothing.
		client.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}),
		client.WithHost(host),
		client.WithAPIVersionNegotiation(),
	}
	if certificates != "" && !local {
		in := func(name string) string { return filepath.Join(certificates, name) }
		options = append(options, client.WithTLSClientConfig(in("ca.pem"), in("cert.pem"), in("key.pem")))
	}
	api, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("use %s: %w", host, err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	e := &engine{id: rand.Text(), api: api, host: host, remote: !local}
	if err := e.ask(ctx); err != nil {
		return nil, err
	}
	e.runtime, err = chooseRuntime(runtime, e.info)
	return e, err
}

// ask fills in what e says of itself, and refuses what cannot be used.
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
