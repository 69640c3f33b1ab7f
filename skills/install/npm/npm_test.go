package npm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/download/faulttest"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const skillText = "---\nname: report\ndescription: D.\n---\nBody.\n"

// pack returns a tarball as "npm pack" makes it, with entries "name content".
func pack(t testing.TB, entries ...string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	zip := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zip)
	for _, entry := range entries {
		name, content, _ := strings.Cut(entry, " ")
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		archive.Write([]byte(content))
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func sri(data []byte) string {
	sum := sha512.Sum512(data)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// A registry serves one package with versions.
type registry struct {
	*faulttest.Server
	tarball []byte
}

func newRegistry(t testing.TB, name string, tarball []byte, dist func(server string) map[string]any, versions ...string) *registry {
	t.Helper()
	files := map[string][]byte{"/files/p.tgz": tarball}
	r := &registry{faulttest.New(t, faulttest.Files(files)), tarball}
	doc := map[string]any{"name": name, "dist-tags": map[string]string{"latest": versions[0], "beta": versions[len(versions)-1]}}
	all := map[string]any{}
	for _, v := range versions {
		all[v] = map[string]any{"name": name, "version": v, "dist": dist(r.URL)}
	}
	doc["versions"] = all
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	files["/"+name] = text
	return r
}

func integrityOf(tarball []byte) func(string) map[string]any {
	return func(server string) map[string]any {
		return map[string]any{"tarball": server + "/files/p.tgz", "integrity": sri(tarball)}
	}
}

func fetch(t testing.TB, r source.Request) (map[string]string, *source.Fetched, error) {
	t.Helper()
	client := download.New(&download.Options{
		Public: func(a netip.Addr) bool { return !a.IsLoopback() && !a.IsPrivate() },
		Sleep:  func(context.Context, time.Duration) error { return nil },
	})
	defer client.Close()
	into, err := quarantine.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	r.Source.Kind = source.NPM
	fetched, err := New(client).Fetch(t.Context(), r, into)
	if err != nil {
		return nil, nil, err
	}
	if err := into.Seal(); err != nil {
		return nil, nil, err
	}
	found := map[string]string{}
	err = fs.WalkDir(os.DirFS(into.Path()), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(into.Path() + "/" + name)
		found[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, fetched, nil
}

func (r *registry) request(name, ref, pin string) source.Request {
	return source.Request{Source: source.Source{Location: r.URL, Name: name, Ref: ref, Pin: pin}, Named: true}
}

func TestVersions(t *testing.T) {
	tarball := pack(t, "package/package.json {}", "package/SKILL.md "+skillText, "package/scripts/run.sh run")
	for _, name := range []string{"report", "@ann/report"} {
		r := newRegistry(t, name, tarball, integrityOf(tarball), "1.4.0", "1.3.9", "1.4.1", "2.0.0", "2.1.0-rc.1")
		for ref, want := range map[string]string{
			"": "1.4.0", "latest": "1.4.0", "beta": "2.1.0-rc.1", "1.3.9": "1.3.9", "v1.3.9": "1.3.9", "^1.3.0": "1.4.1", "~1.3": "1.3.9", "1.x": "1.4.1",
			">=1 <1.4.1": "1.4.0", "1.0.0 - 1.4.0": "1.4.0", "<1.4 || ^2": "2.0.0", "*": "2.0.0", "^2.1.0-rc.0": "2.1.0-rc.1",
			"3": "", "nightly": "", "../x": "",
		} {
			got, fetched, err := fetch(t, r.request(name, ref, ""))
			if want == "" {
				if err == nil || !strings.Contains(err.Error(), `the latest is "1.4.0"`) {
					t.Errorf("%s@%s: %v", name, ref, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s@%s: %v", name, ref, err)
				continue
			}
			files := map[string]string{"package.json": "{}", "SKILL.md": skillText, "scripts/run.sh": "run"}
			wanted := &source.Fetched{Revision: want, Trees: []source.Tree{{Path: ".", Revision: want}}, Checked: []string{"sha512 of the package, stated by the registry"}}
			if diff := cmp.Diff(wanted, fetched) + cmp.Diff(files, got); diff != "" {
				t.Errorf("%s@%s: %s", name, ref, diff)
			}
		}
		if got := r.Requests("")[0].URL.EscapedPath(); got != "/"+strings.ReplaceAll(name, "/", "%2F") {
			t.Errorf("asked for %s", got)
		}
	}
}

func TestIntegrity(t *testing.T) {
	tarball := pack(t, "package/SKILL.md "+skillText)
	sum1, sum256 := sha1.Sum(tarball), sha256.Sum256(tarball)
	old := "sha1-" + base64.StdEncoding.EncodeToString(sum1[:])
	short := "sha256-" + base64.StdEncoding.EncodeToString(sum256[:])
	other := sri([]byte("other"))
	for _, test := range []struct {
		name, integrity, shasum, pin string
		checked                      []string
		err                          string
	}{
		{name: "SHA-512", integrity: sri(tarball), checked: []string{"sha512 of the package, stated by the registry"}},
		{name: "several", integrity: old + " " + other + " " + sri(tarball), checked: []string{"sha512 of the package, stated by the registry"}},
		{name: "SHA-256", integrity: short, checked: []string{"sha256 of the package, stated by the registry"}},
		{name: "SHA-1 of old packages", shasum: hex.EncodeToString(sum1[:]), checked: []string{"sha1 of the package, stated by the registry"}},
		{name: "none"},
		{name: "unknown algorithm", integrity: "md5-AAAA"},
		{name: "pinned", integrity: sri(tarball), pin: short, checked: []string{"sha512 of the package, stated by the registry", "sha256 of the package, stated by the source"}},
		{name: "only pinned", pin: sri(tarball), checked: []string{"sha512 of the package, stated by the source"}},
		{name: "another", integrity: other, err: "another sha512 than the registry"},
		{name: "a weak one that fits", integrity: old + " " + other, err: "another sha512 than the registry"},
		{name: "another SHA-1", shasum: strings.Repeat("00", 20), err: "another sha1"},
		{name: "another pin", integrity: sri(tarball), pin: other, err: "another sha512 than the source"},
		{name: "no pin", integrity: sri(tarball), pin: "latest", err: "no integrity"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRegistry(t, "p", tarball, func(server string) map[string]any {
				return map[string]any{"tarball": "/files/p.tgz", "integrity": test.integrity, "shasum": test.shasum}
			}, "1.0.0")
			got, fetched, err := fetch(t, r.request("p", "", test.pin))
			if test.err != "" {
				var refused *source.RefusedError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, %v", got, err)
				}
				return
			}
			if err != nil || got["SKILL.md"] != skillText {
				t.Fatal(got, err)
			}
			if diff := cmp.Diff(test.checked, fetched.Checked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHostile(t *testing.T) {
	good := pack(t, "package/SKILL.md "+skillText)
	for _, test := range []struct {
		name    string
		tarball []byte
		dist    map[string]any
		named   bool
		pkg     string
		err     string
	}{
		{name: "traversal", tarball: pack(t, "package/../../x y"), named: true, err: "x"},
		{name: "absolute", tarball: pack(t, "/etc/x y"), named: true, err: "/etc/x"},
		{name: "no archive", tarball: []byte("<html>"), named: true, err: "neither a ZIP nor"},
		{name: "cut archive", tarball: good[:len(good)/2], named: true, err: "EOF"},
		{name: "a private registry of a stranger", tarball: good, err: "use https"},
		{name: "a tarball elsewhere", tarball: good, named: true, dist: map[string]any{"tarball": "http://127.0.0.2/p.tgz"}, err: "use https"},
		{name: "a tarball of this machine", tarball: good, named: true, dist: map[string]any{"tarball": "file:///etc/passwd"}, err: "file"},
		{name: "no tarball", tarball: good, named: true, dist: map[string]any{"tarball": 7}, err: "read the version"},
		{name: "name with a path", tarball: good, named: true, pkg: "../x", err: "no name of an npm package"},
		{name: "name with an option", tarball: good, named: true, pkg: "-g", err: "no package"},
		{name: "name with a query", tarball: good, named: true, pkg: "p?x", err: "no name of an npm package"},
		{name: "another package", tarball: good, named: true, pkg: "q", err: "has no package q"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dist := integrityOf(test.tarball)
			if test.dist != nil {
				dist = func(string) map[string]any { return test.dist }
			}
			r := newRegistry(t, "p", test.tarball, dist, "1.0.0")
			q := r.request("p", "", "")
			if test.pkg != "" {
				q.Source.Name = test.pkg
			}
			q.Named = test.named
			if got, _, err := fetch(t, q); err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	tarball := pack(t, "package/SKILL.md "+skillText, "package/large "+strings.Repeat("0123456789", 10_000))
	for i, fault := range append([]faulttest.Fault{faulttest.Cut(len(tarball) / 2)}, faulttest.Status(503, "1"), faulttest.Status(429, "")) {
		r := newRegistry(t, "p", tarball, integrityOf(tarball), "1.0.0")
		r.Fail("/files/p.tgz", fault)
		if got, _, err := fetch(t, r.request("p", "", "")); err != nil || got["SKILL.md"] != skillText {
			t.Errorf("fault %d: %v", i, err)
		}
	}
	for status, want := range map[int]string{404: "has no package p", 401: "npm pack p", 403: "npm pack p", 500: "500"} {
		r := newRegistry(t, "p", tarball, integrityOf(tarball), "1.0.0")
		r.Always("", faulttest.Status(status, ""))
		if _, _, err := fetch(t, r.request("p", "", "")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("status %d: %v", status, err)
		}
	}
	r := newRegistry(t, "p", tarball, integrityOf(tarball), "1.0.0")
	r.Always("/p", faulttest.Body([]byte("<html>")))
	if _, _, err := fetch(t, r.request("p", "", "")); err == nil || !strings.Contains(err.Error(), "read the package p") {
		t.Error(err)
	}
}

func TestNotes(t *testing.T) {
	v := &version{Deprecated: "use q", Scripts: map[string]any{"postinstall": "x"}}
	want := []source.Note{{Text: "the package is deprecated: use q"}, {Text: "the package has install scripts, which were not run"}}
	if diff := cmp.Diff(want, v.notes()); diff != "" {
		t.Error(diff)
	}
	if got := (&version{Deprecated: false}).notes(); len(got) > 0 {
		t.Error(got)
	}
}

func FuzzStrongest(f *testing.F) {
	f.Add("sha512-AAAA sha1-" + base64.StdEncoding.EncodeToString(make([]byte, 20)) + "?x")
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := strongest(text)
		if ok != (len(d.sums) > 0) || ok && len(d.sums[0]) != d.hash().Size() {
			t.Error(fmt.Sprint(d))
		}
	})
}
