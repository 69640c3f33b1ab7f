package clients

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// output returns the first line that a program of this machine prints.
func output(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		lab.Requires(t, "SKILLS_MCP_REQUIRE_TOOLS", fmt.Errorf("%s: %w", strings.Join(argv[:2], " "), err))
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// installerImage returns the test image with this machine's pip, npm and node.
func installerImage(t *testing.T) (ref string) {
	t.Helper()
	node, npm, pip := output(t, "node", "-p", "process.execPath"), output(t, "npm", "root", "-g")+"/npm", output(t, "python3", "-c", "import os, pip; print(os.path.dirname(pip.__file__))")
	dir := t.TempDir()
	for from, to := range map[string]string{node: "usr/local/bin/node", npm: "usr/lib/node_modules/npm", pip: "usr/lib/python3/dist-packages/pip"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o755); err != nil {
			t.Fatal(err)
		}
		output(t, "cp", "-rL", from, filepath.Join(dir, to))
	}
	lab.WriteFile(t, filepath.Join(dir, "usr/local/bin/npm"), "#!/bin/sh\nexec node /usr/lib/node_modules/npm/bin/npm-cli.js \"$@\"\n")
	output(t, "chmod", "-R", "a+rX,a+x", filepath.Join(dir, "usr"))
	id := output(t, "docker", "create", lab.TestImage(), "true")
	defer exec.Command("docker", "rm", id).Run()
	files := exec.Command("sh", "-c", `tar -C "$0" --owner=0 --group=0 -c usr/local/bin usr/lib/node_modules usr/lib/python3/dist-packages/pip | docker cp - "$1:/"`, dir, id)
	if out, err := files.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ref = "skills-mcp-test:launched-" + id[:12]
	output(t, "docker", "commit", id, ref)
	t.Cleanup(func() {
		layers, _ := exec.Command("docker", "images", "-q", "--filter", "label=skills-mcp.dependencies.base="+ref).Output()
		if out, err := exec.Command("docker", append([]string{"rmi", "-f", ref}, strings.Fields(string(layers))...)...).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return ref
}

// A packageRegistry has the Node package demo-server, in the versions 1.0.0 and 2.0.0, and
// the Python package demo-wheel. Each has a program with another name, which is an MCP server.
type packageRegistry struct {
	*httptest.Server
	mu      sync.Mutex
	fetched map[string]int // files by name
}

func newPackageRegistry(t *testing.T) *packageRegistry {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "pluginserver", "server.py"))
	if err != nil {
		t.Fatal(err)
	}
	program := func(version string) string {
		return strings.Replace(string(text), "name = sys.argv[1]", "name = '"+version+" ' + sys.argv[1]", 1)
	}
	files := map[string][]byte{"/files/demo_wheel-3.0-py3-none-any.whl": demoWheel(t, program("3.0"))}
	versions := map[string]any{}
	gateway := output(t, "docker", "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
	listener, err := net.Listen("tcp", net.JoinHostPort(gateway, "0"))
	if err != nil {
		lab.Requires(t, "SKILLS_MCP_REQUIRE_NETWORK", fmt.Errorf("this test needs an engine whose containers reach this machine: %w", err))
	}
	for _, version := range []string{"1.0.0", "2.0.0"} {
		name := "/files/demo-server-" + version + ".tgz"
		manifest := map[string]any{"name": "demo-server", "version": version, "bin": map[string]string{"the-server": "server.py"}}
		files[name] = demoPackage(t, manifest, program(version))
		manifest["dist"] = map[string]string{"tarball": "http://" + listener.Addr().String() + name}
		versions[version] = manifest
	}
	r := &packageRegistry{fetched: map[string]int{}}
	r.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fetched[request.URL.Path]++
		switch path := request.URL.Path; path {
		case "/demo-server":
			_ = json.NewEncoder(w).Encode(map[string]any{"name": "demo-server", "dist-tags": map[string]string{"latest": "2.0.0"}, "versions": versions})
		case "/simple/demo-wheel/":
			w.Header().Set("Content-Type", "text/html")
			const name = "/files/demo_wheel-3.0-py3-none-any.whl"
			fmt.Fprintf(w, `<a href="%s#sha256=%x">%s</a>`, name, sha256.Sum256(files[name]), filepath.Base(name))
		default:
			_, _ = w.Write(files[path])
		}
	})}}
	r.Start()
	t.Cleanup(r.Close)
	return r
}

// demoPackage returns a Node package with its manifest and a program.
func demoPackage(t *testing.T, manifest any, program string) []byte {
	t.Helper()
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var buffer bytes.Buffer
	packed := gzip.NewWriter(&buffer)
	w := tar.NewWriter(packed)
	for name, text := range map[string]string{"package/package.json": string(text), "package/server.py": program} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// demoWheel returns a Python package with a program.
func demoWheel(t *testing.T, program string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for name, text := range map[string]string{
		"demo_wheel-3.0.data/scripts/the-server": program,
		"demo_wheel-3.0.dist-info/METADATA":      "Metadata-Version: 2.1\nName: demo-wheel\nVersion: 3.0\n",
		"demo_wheel-3.0.dist-info/WHEEL":         "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"demo_wheel-3.0.dist-info/RECORD":        "",
	} {
		header := &zip.FileHeader{Name: name}
		header.SetMode(fs.FileMode(0o755))
		f, err := w.CreateHeader(header)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

const launched = `{"name": "p", "mcpServers": {
	"one": {"command": "npx", "args": ["-y", "demo-server@1.0.0", "one"]}, "two": {"command": "cmd", "args": ["/c", "npx", "demo-server@1.0.0", "two"]},
	"new": {"command": "bunx", "args": ["demo-server@latest", "new"]}, "named": {"command": "npx", "args": ["-p", "demo-server@1.0.0", "--", "the-server", "named"]},
	"snake": {"command": "uvx", "args": ["--from", "demo-wheel", "the-server", "${NAME:-snake}"]}, "unknown": {"command": "uvx", "args": ["demo-wheel"]}}}`

// Servers that npx and uvx would start run from packages that are installed once, and shared
// by those that have the same. Afterwards nothing is fetched.
func TestLaunchedServers(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		lab.WriteFile(t, filepath.Join(a.Home, "plugins", "p", ".claude-plugin", "plugin.json"), launched)
		if driver == "native" {
			a.Configure(allowed(a, "sandbox: {dependencies: build}\n"))
			c := a.Serve("legacy", `{}`)
			c.Fails(c.Call("run_skill", map[string]any{"name": "p/one"}), "npx needs 1 Node package (demo-server@1.0.0)", "with the docker driver and the setting sandbox.dependencies: build")
			return
		}
		image := installerImage(t)
		registry := newPackageRegistry(t)
		host, _, _ := net.SplitHostPort(registry.Listener.Addr().String())
		a.Configure(allowed(a, fmt.Sprintf("sandbox: {dependencies: build, dependency_env: [%q, %q, %q]}\n",
			"NPM_CONFIG_REGISTRY="+registry.URL, "PIP_INDEX_URL="+registry.URL+"/simple", "PIP_TRUSTED_HOST="+host)))
		file := filepath.Join(a.Home, ".config", "skills-mcp", "config.yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lab.WriteFile(t, file, strings.ReplaceAll(string(text), lab.TestImage(), image))
		c := a.Serve("legacy", `{}`)
		for server, version := range map[string]string{"one": "1.0.0", "two": "1.0.0", "named": "1.0.0", "new": "2.0.0", "snake": "3.0"} {
			c.Succeeds(c.Call("p__"+server, none), "has started")
			awaitTool(t, c, "p__"+server+"__echo")
			c.Succeeds(c.Call("p__"+server+"__echo", lab.Text("hi")), version+" "+server+": hi")
		}
		c.Fails(c.Call("p__unknown", none), "the installed packages have no program demo-wheel; they have: the-server")
		registry.Close()
		for _, name := range []string{"demo-server-1.0.0.tgz", "demo-server-2.0.0.tgz", "demo_wheel-3.0-py3-none-any.whl"} {
			if n := registry.fetched["/files/"+name]; n != 1 {
				t.Errorf("%s was fetched %d times", name, n)
			}
		}
		if out, code := a.Run("run", "p/new__echo", "--text", "again"); code != 0 || !strings.Contains(out, "2.0.0 new: again") {
			t.Errorf("exit %d: %s", code, out)
		}
		if out, _ := a.Run("show", "p/snake"); !strings.Contains(out, "1 Python package (demo-wheel)") {
			t.Error(out)
		}
	})
}
