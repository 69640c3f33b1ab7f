package wellknown

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
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

func skillMD(name string) string {
	return "---\nname: " + name + "\ndescription: A skill.\n---\nHello.\n"
}

func digest(data string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(data))) }

func zipOf(files map[string]string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, _ := w.Create(name)
		f.Write([]byte(files[name]))
	}
	w.Close()
	return b.String()
}

func tarGzip(files map[string]string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name]))}
		if target, ok := strings.CutPrefix(files[name], "-> "); ok {
			h.Typeflag, h.Size, h.Linkname = tar.TypeSymlink, 0, target
		}
		w.WriteHeader(h)
		if h.Size > 0 {
			w.Write([]byte(files[name]))
		}
	}
	w.Close()
	z.Close()
	return b.String()
}

// site returns the files of a site that publishes an index of version 0.2.0 with these
// artifacts, by their paths. The first part of a path is the skill's name.
func site(artifacts map[string]string) map[string][]byte {
	files := map[string][]byte{}
	var entries []any
	for _, path := range slices.Sorted(maps.Keys(artifacts)) {
		name, _, _ := strings.Cut(path, "/")
		kind := typeArchive
		if strings.HasSuffix(path, "SKILL.md") {
			kind = typeSkill
		}
		entries = append(entries, map[string]any{"name": name, "type": kind, "description": "d", "url": path, "digest": digest(artifacts[path]), "extra": 1})
		files["/.well-known/agent-skills/"+path] = []byte(artifacts[path])
	}
	index, _ := json.Marshal(map[string]any{"$schema": schema, "skills": entries})
	files["/.well-known/agent-skills/index.json"] = index
	return files
}

const newPath = "/.well-known/agent-skills/index.json"

// one returns a site with an index of one entry, given as JSON.
func one(entry string, artifacts map[string]string) map[string][]byte {
	files := site(artifacts)
	files[newPath] = []byte(`{"$schema": "` + schema + `", "skills": [` + entry + `]}`)
	return files
}

// A fixture is a quarantine and a client without waits.
type fixture struct {
	parent string
	into   *quarantine.Folder
	client *download.Client
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	parent := filepath.Join(t.TempDir(), "quarantines")
	into, err := quarantine.New(parent, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := download.New(&download.Options{
		Public: func(a netip.Addr) bool { return !a.IsLoopback() && !a.IsPrivate() },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	t.Cleanup(client.Close)
	return &fixture{parent, into, client}
}

// close closes the quarantine; then nothing may be left.
func (f *fixture) close(t *testing.T) {
	t.Helper()
	if err := f.into.Close(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(f.parent)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func (f *fixture) files(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(f.into.Path()), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := os.ReadFile(filepath.Join(f.into.Path(), name))
			files[name] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFetch(t *testing.T) {
	pdf, docx := skillMD("pdf"), skillMD("docx")
	several := site(map[string]string{
		"pdf/SKILL.md": pdf,
		"docx/a.zip":   zipOf(map[string]string{"SKILL.md": docx, "scripts/run.py": "print()"}),
		"xlsx/a":       tarGzip(map[string]string{"./SKILL.md": skillMD("xlsx"), "link.md": "-> SKILL.md"}),
	})
	older := map[string][]byte{
		newPath: []byte(`{"skills": [{"name": "pdf", "description": "d", "files": ["SKILL.md", "ref/a b.md"]}]}`),
	}
	page := map[string][]byte{newPath: []byte("<!doctype html><title>Home</title>")}
	tests := []struct {
		name  string
		site  map[string][]byte
		path  string
		names []string
		all   bool
		want  map[string]string
		error string // a part
	}{
		{name: "a SKILL.md", site: several, names: []string{"pdf"}, want: map[string]string{"pdf/SKILL.md": pdf}},
		{name: "a ZIP", site: several, names: []string{"docx"}, want: map[string]string{"docx/SKILL.md": docx, "docx/scripts/run.py": "print()"}},
		{name: "all, and tar.gz by its bytes", site: several, all: true, want: map[string]string{
			"pdf/SKILL.md": pdf, "docx/SKILL.md": docx, "docx/scripts/run.py": "print()", "xlsx/SKILL.md": skillMD("xlsx")}},
		{name: "the only one", site: site(map[string]string{"pdf/SKILL.md": pdf}), want: map[string]string{"pdf/SKILL.md": pdf}},
		{name: "an index elsewhere", site: map[string][]byte{
			"/api/o/s/index.json": several[newPath], "/api/o/s/pdf/SKILL.md": []byte(pdf),
		}, path: "/api/o/s/index.json", names: []string{"pdf"}, want: map[string]string{"pdf/SKILL.md": pdf}},
		{name: "an unknown type beside", site: one(`{"name": "x", "type": "wasm"}, 7, {"name": "pdf", "type": "skill-md", "url": "/.well-known/agent-skills/pdf/SKILL.md", "digest": "`+digest(pdf)+`"}`,
			map[string]string{"pdf/SKILL.md": pdf}), want: map[string]string{"pdf/SKILL.md": pdf}},

		{name: "none chosen", site: several, error: "the source has 3 skills; choose with --skill NAME, or --all: docx, pdf, xlsx"},
		{name: "one that is not there", site: several, names: []string{"ppt"}, error: `no "ppt"`},
		{name: "an older index", site: older, error: `the index has the version "", and only 0.2.0 is read, which states digests`},
		{name: "a page in place of an index", site: page, error: "publishes no skills"},
		{name: "no index", site: nil, error: "publishes no skills"},
		{name: "no index at the path", site: nil, path: "/x/index.json", error: "404"},
		{name: "not JSON", site: map[string][]byte{newPath: []byte("hello")}, error: "not the JSON of one"},
		{name: "not an index", site: map[string][]byte{newPath: []byte("{}")}, error: `no list "skills"`},
		{name: "only unknown types", site: one(`{"name": "x", "type": "wasm"}`, nil), error: "no skills that can be fetched"},
		{name: "an unknown version", site: map[string][]byte{newPath: []byte(`{"$schema": "https://schemas.agentskills.io/discovery/9/schema.json", "skills": []}`)}, error: "only 0.2.0 is read"},
		{name: "a large index", site: map[string][]byte{newPath: bytes.Repeat([]byte(" "), maxIndex+1)}, error: "is larger than"},
		{name: "many entries", site: map[string][]byte{newPath: []byte(`{"$schema": "` + schema + `", "skills": [` + strings.Repeat("1,", maxEntries) + `1]}`)}, error: "10001 entries"},
		{name: "no digest", site: one(`{"name": "pdf", "type": "skill-md", "url": "pdf/SKILL.md"}`, map[string]string{"pdf/SKILL.md": pdf}), error: "no sha256 digest"},
		{name: "a short digest", site: one(`{"name": "pdf", "type": "skill-md", "url": "pdf/SKILL.md", "digest": "sha256:12"}`, nil), error: "no sha256 digest"},
		{name: "a wrong digest", site: one(`{"name": "pdf", "type": "skill-md", "url": "pdf/SKILL.md", "digest": "`+digest("x")+`"}`, map[string]string{"pdf/SKILL.md": pdf}), error: "not " + digest("x")},
		{name: "a name twice", site: one(`{"name": "pdf", "type": "skill-md", "url": "a", "digest": "`+digest("x")+`"}, {"name": "pdf", "type": "archive"}`, nil), error: "has it twice"},
		{name: "a private host", site: one(`{"name": "pdf", "type": "skill-md", "url": "https://127.0.0.1:1/x", "digest": "`+digest("x")+`"}`, nil), error: "not of the public internet"},
		{name: "a file URL", site: one(`{"name": "pdf", "type": "skill-md", "url": "file:///etc/passwd", "digest": "`+digest("x")+`"}`, nil), error: "no address of the web"},
		{name: "another name inside", site: site(map[string]string{"docx/SKILL.md": pdf}), error: `has the name "pdf", not that of the index`},
		{name: "no frontmatter", site: site(map[string]string{"pdf/SKILL.md": "hello"}), error: "its SKILL.md"},
		{name: "a folder in the archive", site: site(map[string]string{"pdf/a.zip": zipOf(map[string]string{"pdf/SKILL.md": pdf})}), error: "no SKILL.md at its root"},
		{name: "a link in place of SKILL.md", site: site(map[string]string{"pdf/a.tgz": tarGzip(map[string]string{"SKILL.md": "-> a.md", "a.md": pdf})}), error: "no SKILL.md at its root"},
		{name: "no archive", site: site(map[string]string{"pdf/a.zip": "hello"}), error: "neither a ZIP nor a tar.gz"},
		{name: "a path out of the archive", site: site(map[string]string{"pdf/a.zip": zipOf(map[string]string{"SKILL.md": pdf, "../../x": "x"})}), error: "../../x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server, f := faulttest.New(t, faulttest.Files(test.site)), newFixture(t)
			defer f.close(t)
			s := source.Source{Kind: source.Index, Location: server.URL + test.path}
			got, err := New(f.client).Fetch(t.Context(), source.Request{Source: s, Named: true, Names: test.names, All: test.all}, f.into)
			if test.error != "" {
				if err == nil || !strings.Contains(err.Error(), test.error) {
					t.Fatalf("the error %v does not say %q", err, test.error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if files := f.files(t); !maps.Equal(files, test.want) {
				t.Errorf("fetched %v, want %v", files, test.want)
			}
			if err := f.into.Seal(); err != nil {
				t.Error(err)
			}
			if len(got.Checked) != 2 {
				t.Errorf("checked %v", got.Checked)
			}
			revision, err := New(f.client).Revision(t.Context(), s)
			if err != nil || revision != got.Revision {
				t.Errorf("Revision = %q, %v; want %q", revision, err, got.Revision)
			}
		})
	}
}

// Only the files of the wanted skills are asked for.
func TestFetchAsksForNothingElse(t *testing.T) {
	server, f := faulttest.New(t, faulttest.Files(site(map[string]string{"pdf/SKILL.md": skillMD("pdf"), "docx/SKILL.md": skillMD("docx")}))), newFixture(t)
	defer f.close(t)
	r := source.Request{Source: source.Source{Kind: source.Index, Location: server.URL}, Named: true, Names: []string{"pdf"}}
	if _, err := New(f.client).Fetch(t.Context(), r, f.into); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, r := range server.Requests("") {
		paths = append(paths, r.URL.Path)
	}
	if want := []string{newPath, "/.well-known/agent-skills/pdf/SKILL.md"}; !slices.Equal(paths, want) {
		t.Errorf("asked for %v, want %v", paths, want)
	}
	// A host that the person did not name is not one of this machine.
	r.Named = false
	if _, err := New(f.client).Fetch(t.Context(), r, f.into); err == nil {
		t.Error("an index of this machine was fetched for a stranger")
	}
}

// Each fault, before the index and before the archive: the skill is there whole, or not
// at all with an error that says why.
func TestFaults(t *testing.T) {
	archive := zipOf(map[string]string{"SKILL.md": skillMD("pdf"), "data": strings.Repeat("0123456789", 1000)})
	files := site(map[string]string{"pdf/a.zip": archive})
	const archivePath = "/.well-known/agent-skills/pdf/a.zip"
	faults := []struct {
		name  string
		fault func(size int) []faulttest.Fault
		error string // "" is success
	}{
		{"cut at once", func(int) []faulttest.Fault { return []faulttest.Fault{faulttest.Cut(0)} }, "cuts the connection"},
		{"cut in the middle", func(size int) []faulttest.Fault { return []faulttest.Fault{faulttest.Cut(size / 2)} }, "cuts the connection"},
		{"busy once", func(int) []faulttest.Fault {
			return []faulttest.Fault{faulttest.Status(429, "1"), faulttest.Status(503, "1")}
		}, ""},
		{"busy for long", func(int) []faulttest.Fault { return []faulttest.Fault{faulttest.Status(429, "86400")} }, "429"},
		{"broken", func(int) []faulttest.Fault { return []faulttest.Fault{faulttest.Status(500, "")} }, "500"},
		{"other content", func(int) []faulttest.Fault { return []faulttest.Fault{faulttest.Body([]byte(`{"skills": 7}`))} }, ";"},
		{"to a private address", func(int) []faulttest.Fault { return []faulttest.Fault{faulttest.Redirect("https://10.0.0.1/x")} }, "not of the public internet"},
		{"a short length", func(int) []faulttest.Fault {
			return []faulttest.Fault{faulttest.Header("Content-Length", "10")}
		}, "cuts the connection"},
	}
	for _, path := range []string{newPath, archivePath} {
		for _, test := range faults {
			t.Run(path+"/"+test.name, func(t *testing.T) {
				server, f := faulttest.New(t, faulttest.Files(files)), newFixture(t)
				defer f.close(t)
				server.Fail(path, test.fault(len(files[path]))...)
				r := source.Request{Source: source.Source{Kind: source.Index, Location: server.URL}, Named: true}
				_, err := New(f.client).Fetch(t.Context(), r, f.into)
				if test.error == "" && err != nil || test.error != "" && (err == nil || !strings.Contains(err.Error(), test.error)) {
					t.Fatalf("the error %v does not say %q", err, test.error)
				}
			})
		}
	}
}

func TestCancel(t *testing.T) {
	server, f := faulttest.New(t, faulttest.Files(site(map[string]string{"pdf/SKILL.md": skillMD("pdf")}))), newFixture(t)
	defer f.close(t)
	ctx, cancel := context.WithCancel(t.Context())
	server.Fail("/.well-known/agent-skills/pdf/SKILL.md", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		cancel()
		faulttest.Stall(3)(w, r, next)
	})
	_, err := New(f.client).Fetch(ctx, source.Request{Source: source.Source{Location: server.URL}, Named: true}, f.into)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"$schema": "` + schema + `", "skills": [{"name": "pdf", "type": "skill-md", "url": "x", "digest": "` + digest("") + `"}]}`))
	f.Add([]byte(`{"skills": [{"name": "pdf", "files": ["SKILL.md", "a/b"]}]}`))
	f.Add([]byte(`{"$schema": 7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := parseIndex(data)
		if err != nil {
			return
		}
		chosen, err := i.choose(nil, true)
		for _, e := range chosen {
			if strings.ContainsAny(e.Name, "/\\.") || e.Name == "" || !digestText.MatchString(e.Digest) {
				t.Errorf("%s: chose %+v, %v", data, e, err)
			}
		}
	})
}
