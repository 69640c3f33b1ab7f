package docker

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dockerimage "github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// toolImage is the test image with this machine's pip and npm, a folder of wheels
// /opt/wheels, and one of npm packages /opt/packages. Without pip, npm and node
// here it skips the test, or fails it where SKILLS_MCP_REQUIRE_TOOLS is 1.
func toolImage(t *testing.T) (ref string) {
	t.Helper()
	realEngine(t)
	pip, npm, node := tool(t, "python3", "-c", "import os, pip; print(os.path.dirname(pip.__file__))"), tool(t, "npm", "root", "-g")+"/npm", nodeBinary(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "files.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	a := &testArchive{t, tar.NewWriter(file)}
	a.tree(pip, "usr/lib/python3/dist-packages/pip")
	a.tree(npm, "usr/lib/node_modules/npm")
	a.copy(node, "usr/local/bin/node")
	a.text("usr/local/bin/npm", "#!/bin/sh\nexec node /usr/lib/node_modules/npm/bin/npm-cli.js \"$@\"\n")
	a.text("opt/wheels/demo_skill-1.0-py3-none-any.whl", wheel(t))
	a.text("opt/packages/demo-skill-1.0.0.tgz", npmPackage(t))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	return deriveTar(t, file)
}

// tool is the first line that a program of this machine prints.
func tool(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	if err != nil || line == "" {
		missing(t, fmt.Errorf("%s: %w", strings.Join(argv[:2], " "), err))
	}
	return line
}

// nodeBinary is the Node that integration/node-tools has installed, or this
// machine's.
func nodeBinary(t *testing.T) string {
	t.Helper()
	node := filepath.Join(os.Getenv("SKILLS_MCP_TEST_TOOLS"), "node")
	if os.Getenv("SKILLS_MCP_TEST_TOOLS") == "" {
		var err error
		if node, err = exec.LookPath("node"); err != nil {
			missing(t, err)
		}
	}
	real, err := filepath.EvalSymlinks(node)
	if err != nil {
		missing(t, err)
	}
	return real
}

func missing(t *testing.T, err error) {
	t.Helper()
	const how = "SKIPPED: this test needs pip, npm and node on this machine (integration/node-tools installs node): %v"
	if os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" {
		t.Fatalf(how, err)
	}
	t.Skipf(how, err)
}

// A testArchive is a tar archive of files that anybody may read and run.
type testArchive struct {
	t *testing.T
	*tar.Writer
}

func (a *testArchive) text(name, text string) {
	a.t.Helper()
	a.add(&tar.Header{Name: name}, text)
}

func (a *testArchive) add(header *tar.Header, text string) {
	a.t.Helper()
	header.Mode, header.Size = 0o755, int64(len(text))
	err := a.WriteHeader(header)
	if err == nil {
		_, err = a.Write([]byte(text))
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *testArchive) copy(from, to string) {
	a.t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		a.t.Fatal(err)
	}
	info, err := os.Stat(from)
	if err != nil {
		a.t.Fatal(err)
	}
	a.add(&tar.Header{Name: to, ModTime: info.ModTime()}, string(data)) // compiled Python notes its source's time
}

func (a *testArchive) tree(from, to string) {
	a.t.Helper()
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			below, _ := filepath.Rel(from, name)
			a.copy(name, path.Join(to, filepath.ToSlash(below)))
		}
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// wheel is the Python package demo-skill, with a program of that name.
func wheel(t *testing.T) string {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for _, file := range [][2]string{
		{"demo_skill.py", "value = 'a wheel'\ndef main(): print('program of', value)\n"},
		{"demo_skill-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo-skill\nVersion: 1.0\n"},
		{"demo_skill-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"demo_skill-1.0.dist-info/entry_points.txt", "[console_scripts]\ndemo-skill = demo_skill:main\n"},
		{"demo_skill-1.0.dist-info/RECORD", ""},
	} {
		f, err := w.Create(file[0])
		if err == nil {
			_, err = f.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

// npmPackage is the Node package demo-skill, with an install script that would
// leave a trace.
func npmPackage(t *testing.T) string {
	t.Helper()
	var buffer bytes.Buffer
	packed := gzip.NewWriter(&buffer)
	a := &testArchive{t, tar.NewWriter(packed)}
	a.text("package/package.json", `{"name": "demo-skill", "version": "1.0.0", "main": "index.js", "scripts": {"postinstall": "echo > /opt/skill-deps/node/trace"}}`)
	a.text("package/index.js", "module.exports = 'a tarball'\n")
	for _, closer := range []func() error{a.Close, packed.Close} {
		if err := closer(); err != nil {
			t.Fatal(err)
		}
	}
	return buffer.String()
}

// layerDriver returns a driver whose default image is toolImage, and which
// removes the layers on it when the test ends.
func layerDriver(t *testing.T) *Driver {
	t.Helper()
	ref := toolImage(t)
	options := realEngine(t)
	options.Images = map[string]string{"default": ref}
	options.DependencyEnv = []string{"PIP_NO_INDEX=1", "PIP_FIND_LINKS=/opt/wheels", "SECRET_OF_MIRROR=hush-hush"}
	d := New(options)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if left := containers(t, d); len(left) > 0 {
			t.Errorf("containers are left: %v", left)
		}
		removeLayers(t, options, ref)
	})
	return d
}

// removeLayers removes those made from base, which no container uses any more.
func removeLayers(t *testing.T, options *Options, base string) {
	t.Helper()
	d := New(options)
	defer d.Close()
	ctx := context.Background() // the test's own has ended
	all, err := layersOf(ctx, d)
	if err != nil {
		t.Error(err)
		return
	}
	e, err := d.connect(ctx)
	if err != nil {
		t.Error(err)
		return
	}
	for _, layer := range slices.Backward(all) {
		if layer.Base != base && !strings.Contains(layer.Base, layerName) {
			continue
		}
		if _, err := e.api.ImageRemove(ctx, layer.Ref, dockerimage.RemoveOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// output runs a script with dependencies and returns what it prints.
func output(t *testing.T, d *Driver, script string, dependencies ...sandbox.Dependencies) (string, error) {
	t.Helper()
	cmd := realCommand(t, script)
	cmd.Dependencies = dependencies
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	exit, err := d.Run(t.Context(), cmd)
	if err == nil && exit.Code != 0 {
		t.Errorf("exit code %d: %s", exit.Code, stderr.String())
	}
	return stdout.String(), err
}

func declared(kind string, digest string, files ...string) sandbox.Dependencies {
	d := sandbox.Dependencies{Kind: kind, Digest: digest, Packages: []string{"demo-skill"}}
	for i := 0; i < len(files); i += 2 {
		d.Lock = append(d.Lock, sandbox.File{Name: files[i], Data: []byte(files[i+1])})
	}
	return d
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	d := layerDriver(t)
	python := declared(sandbox.Python, "p1", "requirements.txt", "demo-skill==1.0\n", "requires-python", ">=3.8\n")
	node := declared(sandbox.Node, "n1", "package.json", `{"dependencies": {"demo-skill": "file:/opt/packages/demo-skill-1.0.0.tgz"}}`)

	t.Run("python", func(t *testing.T) {
		got, err := output(t, d, `python3 -c 'import demo_skill; print(demo_skill.value)'; demo-skill; touch /opt/skill-deps/python/x 2>/dev/null || echo read-only`, python)
		if want := "a wheel\nprogram of a wheel\nread-only\n"; err != nil || got != want {
			t.Errorf("printed %q, want %q, error %v", got, want, err)
		}
	})
	t.Run("node", func(t *testing.T) {
		const script = `node -e 'console.log(require("demo-skill"))'
			cd /tmp && printf 'import d from "demo-skill"; console.log("imported", d)' >m.mjs && node m.mjs
			ls /opt/skill-deps/node`
		got, err := output(t, d, script, node)
		if want := "a tarball\nimported a tarball\nnode_modules\npackage.json\n"; err != nil || got != want {
			t.Errorf("printed %q, want %q, error %v", got, want, err)
		}
	})
	t.Run("both", func(t *testing.T) {
		got, err := output(t, d, `python3 -c 'import demo_skill; print(demo_skill.value)'; node -e 'console.log(require("demo-skill"))'`, python, node)
		if want := "a wheel\na tarball\n"; err != nil || got != want {
			t.Errorf("printed %q, want %q, error %v", got, want, err)
		}
	})
	t.Run("none", func(t *testing.T) {
		got, err := output(t, d, `python3 -c 'import demo_skill' 2>/dev/null || echo not there; ls -d /opt/skill-deps 2>/dev/null || echo nor this`)
		if want := "not there\nnor this\n"; err != nil || got != want {
			t.Errorf("printed %q, want %q, error %v", got, want, err)
		}
	})
	t.Run("kept", func(t *testing.T) { // nothing is installed a second time
		cmd := realCommand(t, "true")
		cmd.Dependencies = []sandbox.Dependencies{python}
		cmd.Progress = func(m string) { t.Errorf("told %q", m) }
		if _, err := d.Run(t.Context(), cmd); err != nil {
			t.Error(err)
		}
	})
	t.Run("listed", func(t *testing.T) {
		all, err := layersOf(t.Context(), d)
		own := slices.DeleteFunc(all, func(l Layer) bool { return l.Base != d.roles["default"] })
		if err != nil || len(own) != 2 || own[0].Kind != sandbox.Python || own[1].Kind != sandbox.Node || own[0].Packages != "demo-skill" || own[0].Size == 0 {
			t.Errorf("layers %+v, %v", own, err)
		}
	})
	t.Run("image", func(t *testing.T) { checkLayerImage(t, d, python) })
	t.Run("from an index", func(t *testing.T) { checkIndex(t, d) })
	t.Run("failures", func(t *testing.T) { checkFailures(t, d) })
}

// checkLayerImage looks at what is kept of an installation.
func checkLayerImage(t *testing.T, d *Driver, deps sandbox.Dependencies) {
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	base, err := e.inspectImage(t.Context(), "default", d.roles["default"])
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLayer(e, base, &deps, sandbox.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	if _, err := e.api.ImageInspect(t.Context(), l.ref, client.ImageInspectWithRawResponse(&raw)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(raw.String(), labelLayer) || strings.Contains(raw.String(), "hush-hush") {
		t.Errorf("the installer's environment is in the image:\n%s", raw.String())
	}
	got, err := output(t, d, `grep -r hush-hush /opt/skill-deps || echo nothing; ls /opt/skill-deps; find /opt/skill-deps ! -perm -o=r`, deps)
	if want := "nothing\npython\n"; err != nil || got != want {
		t.Errorf("printed %q, want %q, error %v", got, want, err)
	}
	// An engine notes when a layer was used: its name is given anew.
	before, err := e.describeLayer(t.Context(), l.ref)
	if err != nil {
		t.Fatal(err)
	}
	fresh := New(realEngine(t))
	defer fresh.Close()
	fresh.roles = d.roles
	if _, err := output(t, fresh, "true", deps); err != nil {
		t.Fatal(err)
	}
	after, err := e.describeLayer(t.Context(), l.ref)
	if err != nil || !after.Used.After(before.Used) {
		t.Errorf("last used at %v, and then at %v, error %v", before.Used, after.Used, err)
	}
}

func checkFailures(t *testing.T, d *Driver) {
	for name, test := range map[string]struct {
		deps sandbox.Dependencies
		want []string
	}{
		"not in the index": {declared(sandbox.Python, "f1", "requirements.txt", "no-such-package-here\n"),
			[]string{"the Python packages", "No matching distribution found for no-such-package-here", "sandbox.dependency_env"}},
		"another Python": {declared(sandbox.Python, "f2", "requirements.txt", "demo-skill\n", "requires-python", ">=4\n"),
			[]string{"Python >=4 is wanted, and the image has 3."}},
		"no such file": {declared(sandbox.Node, "f3", "package.json", `{"dependencies": {"a": "file:/opt/packages/none.tgz"}}`),
			[]string{"the Node packages", "/opt/packages/none.tgz"}},
		"a lock of another": {declared(sandbox.Node, "f4", "package.json", `{"dependencies": {"demo-skill": "file:/opt/packages/demo-skill-1.0.0.tgz"}}`, "package-lock.json", `{"lockfileVersion": 3, "packages": {}}`),
			[]string{"the Node packages", "package-lock.json", "are in sync"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := output(t, d, "true", test.deps)
			var unavailable *sandbox.UnavailableError
			if !errors.As(err, &unavailable) {
				t.Fatalf("error %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// An image without an installer says so.
func TestDependenciesNoInstaller(t *testing.T) {
	d := realDriver(t)
	for kind, want := range map[string]string{sandbox.Python: "the image has no pip", sandbox.Node: "the image has no npm"} {
		_, err := output(t, d, "true", declared(kind, "none", "requirements.txt", "", "package.json", "{}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", kind, err)
		}
	}
}
