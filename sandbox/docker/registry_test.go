package docker

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/network"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// packageIndex is an index of Python packages, behind a password, and a registry
// of Node packages, each with demo-skill. Containers reach it at host.
func packageIndex(t *testing.T, host string) (address string) {
	t.Helper()
	python, node := wheel(t), npmPackage(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /simple/demo-skill/", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ann" || password != "hush-hush" {
			w.Header().Set("WWW-Authenticate", `Basic realm="index"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a href="/files/demo_skill-1.0-py3-none-any.whl#sha256=%x">demo_skill-1.0-py3-none-any.whl</a>`, sha256.Sum256([]byte(python)))
	})
	mux.HandleFunc("GET /files/demo_skill-1.0-py3-none-any.whl", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, python) })
	mux.HandleFunc("GET /demo-skill", func(w http.ResponseWriter, r *http.Request) {
		respond(w, 200, map[string]any{"name": "demo-skill", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{
			"1.0.0": map[string]any{"name": "demo-skill", "version": "1.0.0", "dist": map[string]string{
				"tarball": "http://" + r.Host + "/files/demo-skill-1.0.0.tgz", "integrity": integrity(node),
			}},
		}})
	})
	mux.HandleFunc("GET /files/demo-skill-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, node) })
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		noNetwork(t, err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: mux}}
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

func integrity(data string) string {
	sum := sha512.Sum512([]byte(data))
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// bridge is the address at which containers reach this machine.
func bridge(t *testing.T, d *Driver) string {
	t.Helper()
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := e.api.NetworkInspect(t.Context(), "bridge", network.InspectOptions{})
	if err != nil {
		noNetwork(t, err)
	}
	for _, config := range found.IPAM.Config {
		if config.Gateway != "" {
			return config.Gateway
		}
		if subnet, err := netip.ParsePrefix(config.Subnet); err == nil { // as engines choose it
			return subnet.Masked().Addr().Next().String()
		}
	}
	noNetwork(t, errors.New("the network bridge has no gateway"))
	return ""
}

func noNetwork(t *testing.T, err error) {
	t.Helper()
	const how = "SKIPPED: this test needs an engine whose containers reach this machine: %v"
	if os.Getenv("SKILLS_MCP_REQUIRE_NETWORK") == "1" {
		t.Fatalf(how, err)
	}
	t.Skipf(how, err)
}

// checkIndex installs over the network, from where the operator says, and with
// the digests of a lock.
func checkIndex(t *testing.T, d *Driver) {
	index := packageIndex(t, bridge(t, d))
	host, _, _ := net.SplitHostPort(index)
	env := []string{"PIP_INDEX_URL=http://ann:hush-hush@" + index + "/simple", "PIP_TRUSTED_HOST=" + host, "NPM_CONFIG_REGISTRY=http://" + index}
	options := realEngine(t)
	options.Images, options.DependencyEnv = d.roles, env
	d = New(options)
	defer d.Close()

	lock := func(integrity string) string {
		return `{"lockfileVersion": 3, "requires": true, "packages": {"": {"dependencies": {"demo-skill": "1.x"}}, "node_modules/demo-skill": {"version": "1.0.0", "integrity": "` + integrity + `"}}}`
	}
	const manifest = `{"dependencies": {"demo-skill": "1.x"}}`
	python := declared(sandbox.Python, "i1", "requirements.txt", "demo-skill\n")
	node := declared(sandbox.Node, "i2", "package.json", manifest, "package-lock.json", lock(integrity(npmPackage(t))))
	got, err := output(t, d, `python3 -c 'import demo_skill; print(demo_skill.value)'; node -e 'console.log(require("demo-skill"))'
		grep -r hush-hush /opt/skill-deps || echo nothing; ls /opt/skill-deps/node`, python, node)
	if want := "a wheel\na tarball\nnothing\nnode_modules\npackage.json\n"; err != nil || got != want {
		t.Errorf("printed %q, want %q, error %v", got, want, err)
	}

	// Something else than what was locked is not installed.
	forged := declared(sandbox.Node, "i3", "package.json", manifest, "package-lock.json", lock(integrity("another")))
	if _, err := output(t, d, "true", forged); err == nil || !strings.Contains(err.Error(), "EINTEGRITY") {
		t.Errorf("error %v", err)
	}
	// A failure does not tell the index's password.
	none := declared(sandbox.Python, "i4", "requirements.txt", "no-such-package-here\n")
	if _, err := output(t, d, "true", none); err == nil || !strings.Contains(err.Error(), "No matching distribution") || strings.Contains(err.Error(), "hush-hush") {
		t.Errorf("error %v", err)
	}
}
