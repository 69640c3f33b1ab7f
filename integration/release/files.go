package main

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"
	"time"
)

// templates are the files of a release that describe others: manifest.json of MCPB's
// manifest version 0.4 (github.com/modelcontextprotocol/mcpb, MANIFEST.md), and
// server.json of the registry's schema of 2025-12-11
// (github.com/modelcontextprotocol/registry, docs/reference/server-json). Others are the
// package.json of npm packages with their launcher, and Homebrew's formula.
//
// Settings of a manifest reach the program as environment variables; empty ones count
// as not set. Each needs a default: without one a client would insert the variable's
// name for an empty answer.
//
//go:embed manifest.json server.json npm.json npmplatform.json launcher.js formula.rb
var templates embed.FS

// render fills in one of the templates. No value needs escapes in JSON.
func render(name string, data any) ([]byte, error) {
	t, err := template.ParseFS(templates, name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, data)
	return out.Bytes(), err
}

// A release has the values of its templates.
type release struct {
	Module  string // github.com/OWNER/REPOSITORY
	Version string
	Assets  []asset // the bundles
	Brews   []brew
	// Platforms are the platforms of the release.
	Platforms []platform

	day             time.Time // of the commit, for all files
	readme, licence []byte
}

// A brew has the archives of one system, by its name in Homebrew.
type brew struct {
	System string
	Builds []struct{ CPU, Name, SHA256 string }
}

// brewed notes an archive for Homebrew's formula.
func (r *release) brewed(p platform, archive asset) {
	system := map[string]string{"darwin": "macos", "linux": "linux"}[p.OS]
	if system == "" {
		return
	}
	i := slices.IndexFunc(r.Brews, func(b brew) bool { return b.System == system })
	if i < 0 {
		i, r.Brews = len(r.Brews), append(r.Brews, brew{System: system})
	}
	cpu := map[string]string{"amd64": "intel", "arm64": "arm"}[p.Arch]
	r.Brews[i].Builds = append(r.Brews[i].Builds, struct{ CPU, Name, SHA256 string }{cpu, archive.Name, archive.SHA256})
}

// An asset is a bundle of the release. SHA256 is in hex.
type asset struct{ Name, SHA256 string }

func (r release) Home() string       { return "https://" + r.Module }
func (r release) Repository() string { return path.Base(r.Module) }

// Owner returns the owner of the repository, who has a namespace in the registry.
func (r release) Owner() string { return path.Base(path.Dir(r.Module)) }

// A platform is a target of the Go compiler.
type platform struct{ OS, Arch string }

func platforms() []platform {
	var all []platform
	for _, os := range []string{"darwin", "linux", "windows"} {
		all = append(all, platform{os, "amd64"}, platform{os, "arm64"})
	}
	return all
}

func (p platform) String() string { return p.OS + "/" + p.Arch }

// System returns the system's name in Node.js, which manifests use.
func (p platform) System() string {
	if p.OS == "windows" {
		return "win32"
	}
	return p.OS
}

// CPU returns the architecture's name in Node.js, which npm uses.
func (p platform) CPU() string {
	if p.Arch == "amd64" {
		return "x64"
	}
	return p.Arch
}

// Program returns the file name of the program.
func (p platform) Program() string {
	if p.OS == "windows" {
		return "skills-mcp.exe"
	}
	return "skills-mcp"
}

// manifest returns the manifest of one platform's bundle.
func (r release) manifest(p platform) ([]byte, error) {
	return render("manifest.json", struct {
		release
		platform
	}{r, p})
}

// parsePlatforms reads a list such as "linux/amd64,darwin/arm64".
func parsePlatforms(list string) ([]platform, error) {
	var found []platform
	for word := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms(), func(p platform) bool { return p.String() == word })
		if i < 0 {
			return nil, fmt.Errorf("%q is not one of %v", word, platforms())
		}
		found = append(found, platforms()[i])
	}
	return found, nil
}

// A file belongs to a bundle.
type file struct {
	name string // with "/"
	data []byte
	mode fs.FileMode
}

// pack returns a reproducible ZIP file: sorted by name, with the earliest time that
// the format has for all files.
func pack(files []file) ([]byte, error) {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(f.mode)
		to, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := archive.Close() // writes the directory
	return out.Bytes(), err
}
