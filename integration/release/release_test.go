package main

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// need skips a test without what it needs, unless tools are required.
func need(t *testing.T, missing string) {
	t.Helper()
	if os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s (SKILLS_MCP_REQUIRE_TOOLS is set)", missing)
	}
	t.Skipf("SKIPPED: %s (set SKILLS_MCP_REQUIRE_TOOLS=1 to make this a failure)", missing)
}

// mcpb runs the bundles' own program, which says whether a manifest is valid.
func mcpb(t *testing.T, args ...string) (string, error) {
	t.Helper()
	tools := os.Getenv("SKILLS_MCP_TEST_TOOLS")
	if tools == "" {
		need(t, "SKILLS_MCP_TEST_TOOLS does not name the folder of mcpb; integration/node-tools installs it and prints its name")
	}
	out, err := exec.Command(filepath.Join(tools, "mcpb"), args...).CombinedOutput()
	return string(out), err
}

// save writes a file into a folder of its own.
func save(t *testing.T, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// mcpb takes the manifest of each platform.
func TestManifests(t *testing.T) {
	r := release{Module: "github.com/ann/skills-mcp", Version: "1.2.3"}
	for _, p := range append(platforms(), platform{"plan9", "amd64"}) {
		data, err := r.manifest(p)
		if err != nil {
			t.Fatal(err)
		}
		out, err := mcpb(t, "validate", save(t, "manifest.json", data))
		if valid := err == nil && strings.Contains(out, "validation passes"); valid != (p.OS != "plan9") {
			t.Errorf("%s: %v\n%s", p, err, out)
		}
	}
}

// A release knows its version where Go may not ask git, as in a container that packs it.
func TestVersionWithoutGit(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short leaves out a build of the program")
	}
	t.Chdir("../..")
	t.Setenv("GOFLAGS", "-buildvcs=false")
	b, err := build(t.Context(), platform{runtime.GOOS, runtime.GOARCH}, "9.8.7")
	if err != nil {
		t.Fatal(err)
	}
	program := save(t, "skills-mcp", b.program)
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "skills-mcp v9.8.7\n") {
		t.Errorf("version: %v\n%s", err, out)
	}
}

// The registry takes server.json, by its own rules.
func TestServerJSON(t *testing.T) {
	r := release{Module: "github.com/ann/skills-mcp", Version: "1.2.3"}
	for _, p := range platforms() {
		r.Assets = append(r.Assets, asset{"skills-mcp-1.2.3-" + p.OS + "-" + p.Arch + ".mcpb", strings.Repeat("0a", 32)})
	}
	program := filepath.Join(t.TempDir(), "offline")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "testdata", "registry")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		need(t, "the registry's module cannot be had: "+string(out))
	}
	check := func() ([]byte, error) {
		data, err := render("server.json", r)
		if want := "https://github.com/ann/skills-mcp/releases/download/v1.2.3/skills-mcp-1.2.3-darwin-amd64.mcpb"; err != nil || !strings.Contains(string(data), `"identifier": "`+want+`"`) {
			t.Errorf("%v; no package is at %s:\n%s", err, want, data)
		}
		return exec.Command(program, save(t, "server.json", data)).CombinedOutput()
	}
	if out, err := check(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	r.Assets[0].SHA256 = "none"
	if out, err := check(); err == nil {
		t.Errorf("a digest that is none: %s", out)
	}
}

// Bytes of a bundle depend on its files alone, not on their order or the time.
func TestPack(t *testing.T) {
	a, b := file{"a", []byte("first"), 0o644}, file{"b/c", []byte("second"), 0o755}
	one, err := pack([]file{a, b})
	if err != nil {
		t.Fatal(err)
	}
	two, err := pack([]file{b, a})
	if err != nil || !bytes.Equal(one, two) {
		t.Fatal("the same files make other bytes", err)
	}
	archive, err := zip.NewReader(bytes.NewReader(one), int64(len(one)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []file{a, b} {
		if f := archive.File[i]; f.Name != want.name || f.Mode() != want.mode || f.Modified.Year() != 1980 {
			t.Errorf("%s %v %v, want %s %v of 1980", f.Name, f.Mode(), f.Modified, want.name, want.mode)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "--version is missing"},
		{"--version 1.2", "write it like 1.2.3"},
		{"--version 1.2.3 --platforms linux/mips", `"linux/mips" is not one of [darwin/amd64`},
		{"--version 1.2.3 more", `unknown argument "more"`},
		{"--help", "server.json"},
	} {
		var stderr bytes.Buffer
		if _, err := parse(strings.Fields(c.args), &stderr); err == nil || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%q: %v, %s", c.args, err, stderr.String())
		}
	}
	o, err := parse([]string{"--version", "v1.2.3-rc.1", "--platforms", "linux/arm64,windows/amd64"}, &bytes.Buffer{})
	if err != nil || o.version != "1.2.3-rc.1" || len(o.platforms) != 2 || o.platforms[1].System() != "win32" {
		t.Errorf("%+v %v", o, err)
	}
}

// A module without terms cannot be passed on.
func TestTerms(t *testing.T) {
	folder := t.TempDir()
	if _, err := termsOf("example.com/m", folder); err == nil {
		t.Error("no terms, and no error")
	}
	for _, name := range []string{"LICENSE.md", "NOTICE", "README.md"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	texts, err := termsOf("example.com/m", folder)
	if err != nil || len(texts) != 2 || texts[0].name != "licenses/example.com/m/LICENSE.md" {
		t.Error(texts, err)
	}
}
