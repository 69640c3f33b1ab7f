package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Places are the values of a person's environment that say where their engine
// is. All may be empty.
type Places struct {
	DockerHost string // $DOCKER_HOST; the only place looked at when it is set
	Context    string // $DOCKER_CONTEXT
	ConfigDir  string // $DOCKER_CONFIG; "" is .docker in Home
	Home       string // the person's home folder
	RuntimeDir string // $XDG_RUNTIME_DIR
}

// Hosts returns the addresses at which an engine may answer, best first. It
// reads the docker client's configuration, which may name a context, and
// contacts nobody.
func (p Places) Hosts() []string {
	if p.DockerHost != "" {
		return []string{p.DockerHost}
	}
	var hosts []string
	if host := p.contextHost(); host != "" {
		hosts = append(hosts, host)
	}
	if runtime.GOOS == "windows" {
		hosts = append(hosts, "npipe:////./pipe/docker_engine", "npipe:////./pipe/dockerDesktopLinuxEngine")
	}
	for _, socket := range p.sockets() {
		host := "unix://" + filepath.ToSlash(socket)
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// sockets returns where engines put their sockets: Docker before Podman, and
// the system's before the person's own.
func (p Places) sockets() []string {
	if runtime.GOOS == "windows" {
		return nil
	}
	sockets := []string{"/var/run/docker.sock"}
	if p.RuntimeDir != "" {
		sockets = append(sockets, filepath.Join(p.RuntimeDir, "docker.sock"))
	}
	if p.Home != "" {
		for _, socket := range []string{
			".docker/run/docker.sock",     // Docker Desktop on macOS
			".docker/desktop/docker.sock", // Docker Desktop on Linux
			".colima/default/docker.sock",
			".orbstack/run/docker.sock",
			".rd/docker.sock", // Rancher Desktop
		} {
			sockets = append(sockets, filepath.Join(p.Home, filepath.FromSlash(socket)))
		}
	}
	if p.RuntimeDir != "" {
		sockets = append(sockets, filepath.Join(p.RuntimeDir, "podman", "podman.sock"))
	}
	sockets = append(sockets, "/run/podman/podman.sock")
	if p.Home != "" {
		sockets = append(sockets, filepath.Join(p.Home, ".local", "share", "containers", "podman", "machine", "podman.sock"))
	}
	return sockets
}

// contextHost returns the address of the docker client's current context, and
// "" when that is the default one or cannot be read.
func (p Places) contextHost() string {
	name := p.contextName()
	if name == "" || name == "default" {
		return ""
	}
	var meta struct {
		Endpoints map[string]struct{ Host string }
	}
	readJSON(filepath.Join(p.configDir(), "contexts", "meta", digestOf(name), "meta.json"), &meta)
	return meta.Endpoints["docker"].Host
}

// contextName returns the name of the docker client's current context.
func (p Places) contextName() string {
	if p.Context != "" || p.configDir() == "" {
		return p.Context
	}
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	readJSON(filepath.Join(p.configDir(), "config.json"), &config)
	return config.CurrentContext
}

// configDir returns the docker client's folder, and "" when nobody knows.
func (p Places) configDir() string {
	if p.ConfigDir == "" && p.Home != "" {
		return filepath.Join(p.Home, ".docker")
	}
	return p.ConfigDir
}

// digestOf is the SHA-256 of a text, in hexadecimal. It names the folder in which
// the docker client keeps a context.
func digestOf(name string) string {
	digest := sha256.Sum256([]byte(name))
	return hex.EncodeToString(digest[:])
}

// readJSON leaves value as it is when the file cannot be read: a docker client
// that was never set up has none, and a broken one names no engine.
func readJSON(path string, value any) {
	data, err := os.ReadFile(path)
	if err == nil {
		_ = json.Unmarshal(data, value)
	}
}

// address returns host in the form that the client takes, and whether it is a socket of
// this machine.
func address(host string) (normal string, local bool) {
	scheme, _, found := strings.Cut(host, "://")
	if !found {
		return "unix://" + host, true
	}
	return host, scheme == "unix" || scheme == "npipe"
}
