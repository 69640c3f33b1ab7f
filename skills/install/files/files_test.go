package files

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/download/faulttest"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const skillText = "---\nname: report\ndescription: Writes reports.\n---\n"

// content is one skill in a folder, and is larger than a buffer.
func content() map[string]string {
	return map[string]string{"report/SKILL.md": skillText, "report/data.txt": strings.Repeat("0123456789", 20_000)}
}

func packZip(files map[string]string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names(files) {
		to, _ := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		io.WriteString(to, files[name])
	}
	w.Close()
	return b.Bytes()
}

func packTarGzip(files map[string]string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range names(files) {
		w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name]))})
		io.WriteString(w, files[name])
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

func names(files map[string]string) []string {
	var all []string
	for name := range files {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func digestOf(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

// newFetcher returns a fetcher that waits for nothing, and an empty quarantine.
func newFetcher(t *testing.T, o download.Options) (*Fetcher, *quarantine.Folder) {
	t.Helper()
	o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	client := download.New(&o)
	parent := t.TempDir()
	into, err := quarantine.New(parent, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		if err := into.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("%s is left", left[0].Name())
		}
	})
	return New(client), into
}

// fetch returns the fetched files, or the error's text.
func fetch(t *testing.T, f *Fetcher, r source.Request, into *quarantine.Folder) (*source.Fetched, string) {
	t.Helper()
	fetched, err := f.Fetch(t.Context(), r, into)
	if err == nil {
		err = into.Seal()
	}
	for _, left := range into.LeftOut() {
		err = left
	}
	if err != nil {
		return nil, err.Error()
	}
	var found []string
	root := filepath.Join(into.Path(), fetched.Trees[0].Path)
	fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		if !e.IsDir() {
			found = append(found, name)
		}
		return err
	})
	return fetched, strings.Join(found, " ")
}

func TestLocal(t *testing.T) {
	dir := t.TempDir()
	for name, text := range content() {
		write(t, filepath.Join(dir, "repo", name), text)
	}
	write(t, filepath.Join(dir, "repo/.git/config"), "[core]")
	write(t, filepath.Join(dir, "elsewhere"), "secret")
	links := filepath.Join(dir, "links")
	write(t, filepath.Join(links, "SKILL.md"), skillText)
	symlink(t, "SKILL.md", filepath.Join(links, "a"))
	symlink(t, filepath.Join(links, "SKILL.md"), filepath.Join(links, "b"))
	out := filepath.Join(dir, "out")
	symlink(t, "../elsewhere", filepath.Join(out, "a"))
	packed := packZip(content())
	write(t, filepath.Join(dir, "a.zip"), string(packed))
	write(t, filepath.Join(dir, "a.skill"), string(packed))
	write(t, filepath.Join(dir, "a.tar.gz"), string(packTarGzip(content())))
	write(t, filepath.Join(dir, "b.zip"), "none")
	const all = "report/SKILL.md report/data.txt"
	for _, test := range []struct {
		name   string
		source source.Source
		want   string
	}{
		{"a folder, without .git", source.Source{Kind: source.Folder, Location: "repo"}, all},
		{"a folder of a folder", source.Source{Kind: source.Folder, Location: "repo", Path: "report"}, "only a repository of Git has folders to choose; install it again, with --skill"},
		{"links in a folder", source.Source{Kind: source.Folder, Location: "links"}, "SKILL.md a b"},
		{"a link out of a folder", source.Source{Kind: source.Folder, Location: "out"}, `"a": the link to "../elsewhere" leads out of the folder; put the file in its place`},
		{"no folder", source.Source{Kind: source.Folder, Location: "nothing"}, "open DIR/nothing: no such file or directory"},
		{"zip", source.Source{Kind: source.Archive, Location: "a.zip"}, all},
		{"skill", source.Source{Kind: source.Archive, Location: "a.skill", Pin: digestOf(packed)}, all},
		{"tar.gz", source.Source{Kind: source.Archive, Location: "a.tar.gz"}, all},
		{"a folder of an archive", source.Source{Kind: source.Archive, Location: "a.zip", Path: "report"}, "only a repository of Git has folders to choose; install it again, with --skill"},
		{"another digest", source.Source{Kind: source.Archive, Location: "a.zip", Pin: digestOf(nil)},
			"DIR/a.zip has the digest " + digestOf(packed) + ", not " + digestOf(nil) + "; ask its author which one is right"},
		{"no archive", source.Source{Kind: source.Archive, Location: "b.zip"}, "it is neither a ZIP nor a tar.gz file, by its first bytes; pack the folder anew, with zip -r or tar -czf"},
		{"a folder in the place of an archive", source.Source{Kind: source.Archive, Location: "repo"}, "repo is not a regular file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, into := newFetcher(t, download.Options{})
			test.source.Location = filepath.Join(dir, test.source.Location)
			fetched, got := fetch(t, f, source.Request{Source: test.source, Named: true}, into)
			if got = strings.ReplaceAll(got, dir, "DIR"); got != test.want {
				t.Fatalf("%s\nwant %s", got, test.want)
			}
			if fetched == nil {
				return
			}
			if now, err := f.Revision(t.Context(), test.source); err != nil || now != fetched.Revision || now == "" {
				t.Errorf("revision %s, %v; fetched %s", now, err, fetched.Revision)
			}
		})
	}
	f, into := newFetcher(t, download.Options{})
	if _, got := fetch(t, f, source.Request{Source: source.Source{Kind: source.Folder, Location: dir}}, into); !strings.Contains(got, "a stranger's file names a path") {
		t.Errorf("a folder that nobody named: %s", got)
	}
}

func TestURL(t *testing.T) {
	zipped, tarred := packZip(content()), packTarGzip(content())
	files := map[string][]byte{
		"/a.zip": zipped, "/a.tar.gz": tarred, "/download": zipped, "/archive.bin": tarred, "/a.skill": zipped,
		"/SKILL.md": []byte(skillText), "/raw": []byte(skillText), "/marketplace.json": []byte(`{"name": "m"}`),
		"/page.zip": []byte("\n<!DOCTYPE html><title>Not here</title>"), "/text": []byte("Hello."), "/wrong.zip": []byte("Hello."),
	}
	const all = "report/SKILL.md report/data.txt"
	for _, test := range []struct {
		name   string
		url    string
		faults []faulttest.Fault
		source source.Source
		want   string
	}{
		{name: "zip", url: "/a.zip", want: all},
		{name: "tar.gz", url: "/a.tar.gz", want: all},
		{name: "skill", url: "/a.skill", want: all},
		{name: "by its type", url: "/download", faults: []faulttest.Fault{faulttest.Header("Content-Type", "application/zip; a=b")}, want: all},
		{name: "by the extension", url: "/a.zip", faults: []faulttest.Fault{faulttest.Header("Content-Type", "application/octet-stream")}, want: all},
		{name: "by the first bytes", url: "/archive.bin", faults: []faulttest.Fault{faulttest.Header("Content-Type", "text/plain")}, want: all},
		{name: "a bare SKILL.md", url: "/SKILL.md", want: "SKILL.md"},
		{name: "a bare SKILL.md by its first bytes", url: "/raw", want: "SKILL.md"},
		{name: "a marketplace", url: "/marketplace.json", want: ".claude-plugin/marketplace.json"},
		{name: "its digest", url: "/a.zip", source: source.Source{Pin: digestOf(zipped)}, want: all},
		{name: "another digest", url: "/a.zip", source: source.Source{Pin: digestOf(nil)},
			want: "URL has the digest " + digestOf(zipped) + ", not " + digestOf(nil) + "; ask its author which one is right"},
		{name: "a page", url: "/page.zip", want: "URL is a web page of 39 bytes, no archive and no SKILL.md; write the URL of a .zip, .skill or .tar.gz file, or of a SKILL.md; for a repository that the page shows, write git+https:// before its address"},
		{name: "a text", url: "/text", want: "URL is a file of the type text/plain of 6 bytes, no archive and no SKILL.md; write the URL of a .zip, .skill or .tar.gz file, or of a SKILL.md"},
		{name: "a text with a wrong name", url: "/wrong.zip", want: "URL is a file of the type application/zip of 6 bytes, no archive and no SKILL.md; write the URL of a .zip, .skill or .tar.gz file, or of a SKILL.md"},
		{name: "not there", url: "/nothing", want: "URL answers 404 Not Found"},
		{name: "cut in the middle", url: "/a.zip", faults: []faulttest.Fault{faulttest.Cut(len(zipped) / 2)}, want: "download URL: the server cuts the connection; check the connection, and try again"},
		{name: "busy", url: "/a.zip", faults: []faulttest.Fault{faulttest.Status(429, "3"), faulttest.Status(503, "")}, want: all},
		{name: "half an archive, which the server calls whole", url: "/a.zip", faults: []faulttest.Fault{faulttest.Body(zipped[:1000])},
			want: "it is no whole ZIP file: zip: not a valid zip file; pack the folder anew, with zip -r or tar -czf"},
		{name: "a redirect to a private address", url: "/a.zip", faults: []faulttest.Fault{faulttest.Redirect("https://localhost:1/a.zip")},
			want: "a server names the address 127.0.0.1, which is not of the public internet; install from that address itself if you trust it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := faulttest.New(t, faulttest.Files(files))
			server.Fail(test.url, test.faults...)
			f, into := newFetcher(t, download.Options{Public: func(a netip.Addr) bool { return !a.IsLoopback() }})
			test.source.Kind, test.source.Location = source.URL, server.URL+test.url
			fetched, got := fetch(t, f, source.Request{Source: test.source, Named: true}, into)
			if got = strings.ReplaceAll(got, server.URL+test.url, "URL"); got != test.want {
				t.Fatalf("%s\nwant %s", got, test.want)
			}
			if fetched == nil {
				return
			}
			if now, err := f.Revision(t.Context(), test.source); err != nil || now != fetched.Revision || now != digestOf(files[test.url]) {
				t.Errorf("revision %s, %v; fetched %s", now, err, fetched.Revision)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}
