package packages

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	modules "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// A releaseFiles is a folder with the files of a release of version 0.1.0 for this platform.
type releaseFiles struct{ dir string }

func (r releaseFiles) file(name string) string { return filepath.Join(r.dir, name) }

// testInstalls installs what a release has for this platform, and runs it.
func (r releaseFiles) testInstalls(t *testing.T) {
	for name, test := range map[string]func(*testing.T){"archive": r.testArchive, "deb": r.testDeb, "rpm": r.testRPM, "npm": r.testNPM, "lists": r.testLists} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// testInstallation runs an installed program and looks at its documents. The paths of the
// documents are relative to root.
func testInstallation(t *testing.T, program, root, manual, completion string) {
	t.Helper()
	if out := quiet(t, program, "version"); !strings.HasPrefix(out, "skills-mcp ") || out != quiet(t, program, "--version") || out != quiet(t, program, "-v") {
		t.Errorf("version: %s", out)
	}
	page := string(readFile(t, filepath.Join(root, manual)))
	if strings.HasSuffix(manual, ".gz") {
		page = quiet(t, "gzip", "-dc", filepath.Join(root, manual))
	}
	if !strings.Contains(page, ".SH SYNOPSIS") || !strings.Contains(page, "skills-mcp-check(1)") {
		t.Errorf("the manual page is\n%.400s", page)
	}
	if out := quiet(t, "bash", "-c", `source "$1" && complete -p skills-mcp`, "bash", filepath.Join(root, completion)); !strings.Contains(out, "skills-mcp") {
		t.Errorf("completion: %s", out)
	}
}

// quiet runs a program in an empty home and returns its output.
func quiet(t *testing.T, program string, args ...string) string {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(program, args...)
	// An ordinary user's PATH has not the folders of what dpkg runs.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_CACHE_HOME=" + home}
	cmd.Dir = home
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// lacking skips a test on a machine without a program; under CI it fails.
func lacking(t *testing.T, program, get string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("there is no %s: %s", program, get)
	}
	t.Skipf("SKIPPED: there is no %s: %s (set CI=true to make this a failure)", program, get)
}

func (r releaseFiles) testArchive(t *testing.T) {
	name := "skills-mcp-0.1.0-" + runtime.GOOS + "-" + runtime.GOARCH
	dir := t.TempDir()
	quiet(t, "tar", "-xzf", r.file(name+".tar.gz"), "-C", dir)
	dir = filepath.Join(dir, name)
	testInstallation(t, filepath.Join(dir, "skills-mcp"), dir, "man/skills-mcp.1", "completions/skills-mcp.bash")
	for _, name := range []string{"LICENSE", "README.md", "licenses/go/LICENSE", "completions/_skills-mcp", "completions/skills-mcp.fish", "man/skills-mcp-push.1"} {
		if len(readFile(t, filepath.Join(dir, name))) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}

// testDeb installs into a root of its own, and removes it.
func (r releaseFiles) testDeb(t *testing.T) {
	lacking(t, "dpkg", "it is Debian's")
	root := t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	lab.WriteFile(t, filepath.Join(root, "var/lib/dpkg/status"), "")
	force := []string{"--root=" + root, "--force-not-root", "--log=" + filepath.Join(root, "log")}
	quiet(t, "dpkg", append(force, "--install", r.file("skills-mcp-0.1.0-linux-"+runtime.GOARCH+".deb"))...)
	program := filepath.Join(root, "usr/bin/skills-mcp")
	testInstallation(t, program, root, "usr/share/man/man1/skills-mcp.1.gz", "usr/share/bash-completion/completions/skills-mcp")
	if entry := string(readFile(t, filepath.Join(root, "usr/share/applications/skills-mcp.desktop"))); !strings.Contains(entry, "\nExec=skills-mcp ui\n") || !strings.Contains(entry, "\nTerminal=true\n") {
		t.Errorf("the entry among the applications is\n%s", entry)
	}
	quiet(t, "dpkg", append(force, "--purge", "skills-mcp")...)
	if _, err := os.Stat(filepath.Join(root, "usr/share/doc/skills-mcp")); err == nil || fileExists(program) {
		t.Error("files are left")
	}
}

func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func (r releaseFiles) testRPM(t *testing.T) {
	lacking(t, "rpm", "apt-get install rpm")
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: rpm changes its root, which takes root")
	}
	root := t.TempDir()
	rpm := func(args ...string) {
		t.Helper()
		quiet(t, "rpm", append([]string{"--root", root, "--dbpath", "/var/lib/rpm"}, args...)...)
	}
	rpm("--initdb")
	rpm("--install", "--nodeps", "--ignorearch", r.file("skills-mcp-0.1.0-linux-"+runtime.GOARCH+".rpm"))
	program := filepath.Join(root, "usr/bin/skills-mcp")
	testInstallation(t, program, root, "usr/share/man/man1/skills-mcp.1.gz", "usr/share/bash-completion/completions/skills-mcp")
	if entry := string(readFile(t, filepath.Join(root, "usr/share/applications/skills-mcp.desktop"))); !strings.Contains(entry, "\nExec=skills-mcp ui\n") || !strings.Contains(entry, "\nTerminal=true\n") {
		t.Errorf("the entry among the applications is\n%s", entry)
	}
	rpm("--verify", "--nodeps", "skills-mcp")
	rpm("--erase", "skills-mcp")
	if fileExists(program) {
		t.Error("the program is left")
	}
}

// testNPM has npx install and start the program from a registry that has the packages of
// this release, and none for other platforms.
func (r releaseFiles) testNPM(t *testing.T) {
	lab.NodeTools(t)
	lacking(t, "npx", "apt-get install npm")
	cpu := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if cpu == "" {
		cpu = runtime.GOARCH
	}
	files := map[string]string{"skills-mcp": "skills-mcp-0.1.0.tgz"}
	files["skills-mcp-"+runtime.GOOS+"-"+cpu] = "skills-mcp-" + runtime.GOOS + "-" + cpu + "-0.1.0.tgz"
	var registry *httptest.Server
	registry = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		name := strings.TrimPrefix(q.URL.Path, "/")
		if strings.HasSuffix(name, ".tgz") {
			http.ServeFile(w, q, r.file(filepath.Base(name)))
			return
		}
		file, known := files[name]
		if !known {
			http.NotFound(w, q)
			return
		}
		var description map[string]any
		if err := json.Unmarshal([]byte(quiet(t, "tar", "-xzOf", r.file(file), "package/package.json")), &description); err != nil {
			t.Error(err)
		}
		if description["scripts"] != nil {
			t.Errorf("%s has scripts: %v", name, description["scripts"])
		}
		description["dist"] = map[string]any{"tarball": registry.URL + "/" + file}
		json.NewEncoder(w).Encode(map[string]any{"name": name, "dist-tags": map[string]any{"latest": "0.1.0"}, "versions": map[string]any{"0.1.0": description}})
	}))
	defer registry.Close()
	npx := func(args ...string) string {
		return quiet(t, "npx", append([]string{"--registry=" + registry.URL, "--ignore-scripts", "--no-audit", "--no-update-notifier", "-y", "skills-mcp@0.1.0"}, args...)...)
	}
	if out := npx("version"); !strings.Contains(out, "skills-mcp ") || !strings.Contains(out, "protocols") {
		t.Errorf("npx starts %s", out)
	}
	if out := npx("completion", "bash"); !strings.Contains(out, "complete") {
		t.Errorf("npx with arguments: %.200s", out)
	}
}

// testLists: what names the files has their digests, and the modules in the program.
func (r releaseFiles) testLists(t *testing.T) {
	listed := map[string]bool{"SHA256SUMS": true}
	for line := range strings.Lines(string(readFile(t, r.file("SHA256SUMS")))) {
		digest, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		listed[name] = true
		if got := fmt.Sprintf("%x", sha256.Sum256(readFile(t, r.file(name)))); got != digest {
			t.Errorf("%s has the digest %s, not %s", name, got, digest)
		}
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !listed[e.Name()] {
			t.Errorf("SHA256SUMS has no %s", e.Name())
		}
	}
	materials := string(readFile(t, r.file("skills-mcp-0.1.0.cdx.json")))
	for _, want := range []string{`"specVersion": "1.6"`, `"pkg:golang/github.com/spf13/cobra@v`, `"pkg:golang/` + lab.Module(t) + `@v0.1.0"`} {
		if !strings.Contains(materials, want) {
			t.Errorf("the bill of materials has no %s", want)
		}
	}
	if strings.Contains(materials, "goreleaser") || strings.Contains(materials, "md2man") {
		t.Error("the program has the libraries of releases")
	}
	archive := fmt.Sprintf("skills-mcp-0.1.0-%s-%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	formula := string(readFile(t, r.file("skills-mcp.rb")))
	if digest := fmt.Sprintf("%x", sha256.Sum256(readFile(t, r.file(archive)))); !strings.Contains(formula, archive+`"`) || !strings.Contains(formula, `sha256 "`+digest+`"`) {
		t.Errorf("the formula is\n%s", formula)
	}
}

// TestGoInstall installs the program by its module's path and a version, from a proxy that
// has the module as it is in this checkout.
func TestGoInstall(t *testing.T) {
	t.Parallel()
	path, proxy := lab.Module(t), t.TempDir()
	versions := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	lab.WriteFile(t, filepath.Join(versions, "list"), "v0.1.0\n")
	lab.WriteFile(t, filepath.Join(versions, "v0.1.0.info"), `{"Version": "v0.1.0", "Time": "2026-01-01T00:00:00Z"}`)
	lab.WriteFile(t, filepath.Join(versions, "v0.1.0.mod"), string(readFile(t, "../go.mod")))
	packed, err := os.Create(filepath.Join(versions, "v0.1.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	err = zip.CreateFromDir(packed, modules.Version{Path: path, Version: "v0.1.0"}, "..")
	if closed := packed.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := "file://" + proxy + ",file://" + filepath.Join(strings.TrimSpace(string(cache)), "cache", "download") + ",off"
	mods, bin := t.TempDir(), t.TempDir()
	install := exec.Command("go", "install", "-trimpath", path+"/cmd/skills-mcp@v0.1.0")
	install.Dir = bin
	install.Env = append(os.Environ(), "CGO_ENABLED=0", "GOPROXY="+files, "GONOSUMDB=*", "GONOSUMCHECK=1", "GOFLAGS=-mod=mod -modcacherw", "GOMODCACHE="+mods, "GOBIN="+bin)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out := quiet(t, filepath.Join(bin, "skills-mcp"), "version"); !strings.HasPrefix(out, "skills-mcp v0.1.0\n") {
		t.Errorf("the program says %s", out)
	}
}
