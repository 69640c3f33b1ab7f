package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// What is made for other platforms than this one is composed as it would be there.
func TestCompositions(t *testing.T) {
	r := release{Module: "github.com/ann/skills-mcp", Version: "1.2.3", Platforms: platforms(), day: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), readme: []byte("read me"), licence: []byte("terms")}
	b := &built{program: []byte("program"), terms: []file{{"LICENSE", []byte("terms"), 0o644}}}
	d := &documents{manuals: []file{{"skills-mcp.1", []byte("page"), 0o644}}, completions: map[string]file{"bash": {"skills-mcp.bash", []byte("bash"), 0o644}}}
	for _, p := range platforms() {
		name, data, err := b.archive(r, p, d)
		if err != nil {
			t.Fatal(err)
		}
		r.brewed(p, asset{name, "digest-of-" + name})
		if p.OS == "windows" {
			archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := archive.Open("skills-mcp-1.2.3-windows-" + p.Arch + "/skills-mcp.exe"); err != nil || !strings.HasSuffix(name, ".zip") {
				t.Error(name, err)
			}
		}
		if name, _, err := b.npmPlatform(r, p); err != nil || name != "skills-mcp-"+p.System()+"-"+p.CPU()+"-1.2.3.tgz" {
			t.Error(name, err)
		}
		if packages, err := b.linuxPackages(r, p, d); err != nil || len(packages) != 2 {
			t.Error(packages, err)
		}
	}
	formula, err := render("formula.rb", r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"on_macos do", "on_linux do", "skills-mcp-1.2.3-darwin-arm64.tar.gz", `sha256 "digest-of-skills-mcp-1.2.3-linux-amd64.tar.gz"`} {
		if !strings.Contains(string(formula), want) {
			t.Errorf("the formula has no %q:\n%s", want, formula)
		}
	}
	if strings.Contains(string(formula), "windows") {
		t.Error("the formula is for Windows, too")
	}
	description, err := render("npm.json", r)
	if err != nil {
		t.Fatal(err)
	}
	var npm struct{ OptionalDependencies map[string]string }
	if err := json.Unmarshal(description, &npm); err != nil || len(npm.OptionalDependencies) != len(platforms()) || npm.OptionalDependencies["skills-mcp-win32-x64"] != "1.2.3" {
		t.Errorf("%v: %s", err, description)
	}
	materials, err := r.bom(map[string]*debug.Module{"example.com/m": {Path: "example.com/m", Version: "v1.0.0", Sum: "h1:x"}})
	if err != nil || !json.Valid(materials) || !strings.Contains(string(materials), `"pkg:golang/example.com/m@v1.0.0"`) {
		t.Errorf("%v: %s", err, materials)
	}
}
