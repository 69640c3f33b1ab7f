package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// archive returns an archive with the program and its documents in one folder: a ZIP file
// for Windows, else a tar.gz file. Its name is that of the folder with the extension.
func (b *built) archive(r release, p platform, d *documents) (name string, data []byte, err error) {
	folder := fmt.Sprintf("skills-mcp-%s-%s-%s", r.Version, p.OS, p.Arch)
	inside := slices.Concat(b.terms, d.archived(), []file{{p.Program(), b.program, 0o755}, {"README.md", r.readme, 0o644}})
	for i := range inside {
		inside[i].name = folder + "/" + inside[i].name
	}
	if p.OS == "windows" {
		data, err = pack(inside)
		return folder + ".zip", data, err
	}
	data, err = packTar(inside, r.day)
	return folder + ".tar.gz", data, err
}

// packTar returns a reproducible tar.gz file: sorted by name, all files of one day.
func packTar(all []file, day time.Time) ([]byte, error) {
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	list := tar.NewWriter(&out)
	for _, f := range all {
		header := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: day, Typeflag: tar.TypeReg}
		if err := list.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := list.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := list.Close(); err != nil {
		return nil, err
	}
	return zipped(out.Bytes())
}

// linuxPackages returns the packages of Debian's and Red Hat's systems, by file name.
func (b *built) linuxPackages(r release, p platform, d *documents) (map[string][]byte, error) {
	contents, err := d.installed()
	if err != nil {
		return nil, err
	}
	contents = append(contents, file{"usr/bin/skills-mcp", b.program, 0o755})
	for _, terms := range b.terms {
		contents = append(contents, file{"usr/share/doc/skills-mcp/" + terms.name, terms.data, 0o644})
	}
	folder, err := os.MkdirTemp("", "skills-mcp-package-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	made := map[string][]byte{}
	for extension, packager := range map[string]nfpm.Packager{"deb": deb.Default, "rpm": rpm.DefaultRPM} {
		info, err := r.packageInfo(p, contents, folder)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		if err := packager.Package(nfpm.WithDefaults(info), &out); err != nil {
			return nil, fmt.Errorf("make the %s: %w", extension, err)
		}
		made[fmt.Sprintf("skills-mcp-%s-%s-%s.%s", r.Version, p.OS, p.Arch, extension)] = out.Bytes()
	}
	return made, nil
}

// packageInfo describes a Linux package. The packager reads its files below folder.
func (r release) packageInfo(p platform, contents []file, folder string) (*nfpm.Info, error) {
	info := &nfpm.Info{
		Name: "skills-mcp", Arch: p.Arch, Platform: "linux", Version: r.Version, VersionSchema: "semver", Release: "1",
		Section: "utils", Priority: "optional", Maintainer: "The skills-mcp authors <skills-mcp@users.noreply.github.com>",
		Description: "Your agent skills as typed MCP tools\nEach call runs in a fresh, locked-down sandbox.",
		Homepage:    r.Home(), License: "Apache-2.0", MTime: r.day, DisableGlobbing: true,
	}
	info.Overridables.RPM.BuildHost = "localhost" // not the name of this machine
	info.Overridables.RPM.Summary = "Your agent skills as typed MCP tools"
	info.Suggests = []string{"git"}
	for _, f := range contents {
		source := filepath.Join(folder, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(source, f.data, f.mode); err != nil {
			return nil, err
		}
		info.Contents = append(info.Contents, &files.Content{
			Source: source, Destination: "/" + f.name,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: r.day},
		})
	}
	return info, nil
}

// npmPlatform returns the npm package with the program for one platform. npm installs it
// where its "os" and "cpu" are those of the machine.
func (b *built) npmPlatform(r release, p platform) (name string, data []byte, err error) {
	description, err := render("npmplatform.json", struct {
		release
		platform
	}{r, p})
	if err != nil {
		return "", nil, err
	}
	inside := slices.Concat(b.terms, []file{{"package.json", description, 0o644}, {"bin/" + p.Program(), b.program, 0o755}})
	data, err = r.packNPM(inside)
	return fmt.Sprintf("skills-mcp-%s-%s-%s.tgz", p.System(), p.CPU(), r.Version), data, err
}

// npmLauncher returns the npm package that people name. Its "bin" starts the program of the
// platform's package: nothing is downloaded by a script.
func (r release) npmLauncher() (name string, data []byte, err error) {
	description, err := render("npm.json", r)
	if err != nil {
		return "", nil, err
	}
	launcher, err := templates.ReadFile("launcher.js")
	if err != nil {
		return "", nil, err
	}
	data, err = r.packNPM([]file{
		{"package.json", description, 0o644}, {"bin/skills-mcp.js", launcher, 0o755},
		{"README.md", r.readme, 0o644}, {"LICENSE", r.licence, 0o644},
	})
	return "skills-mcp-" + r.Version + ".tgz", data, err
}

// packNPM packs the files below "package", as npm does.
func (r release) packNPM(inside []file) ([]byte, error) {
	for i := range inside {
		inside[i].name = "package/" + inside[i].name
	}
	return packTar(inside, r.day)
}

// sums returns the SHA-256 digests of files, as sha256sum reads them.
func sums(digests map[string]string) []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		fmt.Fprintf(&out, "%s  %s\n", digests[name], name)
	}
	return out.Bytes()
}
