package clawhub

import (
	"archive/zip"
	"bytes"
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

const (
	commit  = "0123456789abcdef0123456789abcdef01234567"
	skillMD = "---\nname: weather\ndescription: Tells the weather.\n---\nHello.\n"
)

// A hub answers as a ClawHub registry with one skill, weather of steipete. Its fields are
// parts of the answers that tests change.
type hub struct {
	moderation string            // JSON
	security   string            // JSON of the version's state
	verdict    string            // JSON of the items; "" is no such call
	files      map[string]string // of the listed version
	packed     map[string]string // in the archive
	version    string            // more fields of the version, JSON
	github     string            // the path of a skill that GitHub has; "" is a hosted one
	download   func(w http.ResponseWriter, r *http.Request) bool
}

func newHub() *hub {
	files := map[string]string{"SKILL.md": skillMD, "scripts/run.py": "print()\n"}
	packed := maps.Clone(files)
	packed["_meta.json"] = `{"ownerId": "u1", "slug": "weather", "version": "1.2.0", "publishedAt": 7}`
	return &hub{
		moderation: "null", security: `{"status": "clean"}`, files: files, packed: packed,
		verdict: `{"ok": true, "decision": "pass", "reasons": [], "slug": "weather", "version": "1.2.0", "security": {"status": "clean", "passed": true}}`,
	}
}

func zipOf(files map[string]string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate}
		body, isLink := strings.CutPrefix(files[name], "-> ")
		if header.SetMode(0o644); isLink {
			header.SetMode(fs.ModeSymlink | 0o777)
		}
		f, _ := w.CreateHeader(header)
		f.Write([]byte(body))
	}
	w.Close()
	return b.Bytes()
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	fail := func(status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		w.Write([]byte(text))
	}
	answer := func(text string) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Write([]byte(text))
	}
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	if owner := q.Get("ownerHandle"); strings.HasPrefix(path, "/skills/shared") && owner == "" {
		w.WriteHeader(http.StatusConflict)
		answer(`{"code": "AMBIGUOUS_SKILL_SLUG", "slug": "shared", "matches": [{"ownerHandle": "zoe", "slug": "shared"}, {"ownerHandle": "amy", "slug": "shared"}]}`)
		return
	}
	switch path {
	case "/.well-known/clawhub.json":
		answer(`{"apiBase": "http://` + r.Host + `/", "minCliVersion": "0.0.5"}`)
	case "/search":
		answer(`{"results": [{"score": 1, "slug": "weather", "displayName": "Weather\u001b[2J", "summary": "Tells it.", "version": "1.2.0", "ownerHandle": "steipete", "downloads": 12}, {"slug": null}, {"slug": "bare"}]}`)
	case "/skills/weather", "/skills/shared":
		latest := `{"version": "1.2.0", "createdAt": 1}`
		if h.github != "" {
			latest = "null"
		}
		answer(`{"skill": {"slug": "` + path[len("/skills/"):] + `", "displayName": "Weather", "tags": {"latest": "1.2.0", "old": "1.1.0"}, "stats": {}}, "latestVersion": ` + latest +
			`, "metadata": null, "owner": {"handle": "steipete"}, "moderation": ` + h.moderation + `}`)
	case "/skills/weather/versions/1.2.0", "/skills/weather/versions/1.1.0", "/skills/shared/versions/1.2.0":
		var list []map[string]any
		for _, name := range slices.Sorted(maps.Keys(h.files)) {
			list = append(list, map[string]any{"path": name, "size": len(h.files[name]), "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(h.files[name]))), "contentType": nil})
		}
		files, _ := json.Marshal(list)
		answer(`{"skill": {"slug": "weather"}, "version": {"version": "1.2.0", "files": ` + string(files) + `, "security": ` + h.security + h.version + `}}`)
	case "/skills/-/security-verdicts":
		if h.verdict == "" || r.Method != http.MethodPost {
			fail(http.StatusNotFound, "Not found")
			return
		}
		answer(`{"schema": "clawhub.skill.security-verdicts.v1", "items": [` + h.verdict + `]}`)
	case "/download":
		switch {
		case h.download != nil && h.download(w, r):
		case h.github != "":
			answer(`{"sourceRef": "public-github", "repo": "o/r", "commit": "` + commit + `", "path": "` + h.github + `", "archiveUrl": "http://` + r.Host + `/o/r.zip"}`)
		default:
			w.Header().Set("Content-Type", "application/zip")
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(zipOf(h.packed)))
		}
	default:
		fail(http.StatusNotFound, "Skill not found")
	}
}

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

func (f *fixture) names(t *testing.T) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(f.into.Path()), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestFetch(t *testing.T) {
	tests := []struct {
		name    string
		source  string // the name, "" is weather
		ref     string
		change  func(h *hub)
		error   string // a part; "" is success
		refused bool
		note    string // a part of a suspicious note; "" is none
	}{
		{name: "the newest version"},
		{name: "a version", ref: "1.2.0"},
		{name: "a tag", ref: "latest"},
		{name: "an owner", source: "steipete/weather"},
		{name: "files that the registry adds", change: func(h *hub) { h.packed["skill-card.md"] = "card" }},
		{name: "no list of files", change: func(h *hub) { h.files = nil }},

		{name: "another owner answers", source: "amy/weather", note: "answers with one of steipete"},
		{name: "suspicious", change: func(h *hub) {
			h.moderation = `{"isSuspicious": true, "isMalwareBlocked": false, "verdict": "suspicious", "reasonCodes": ["suspicious.exec"]}`
		}, note: "suspicious, suspicious.exec"},
		{name: "pending", change: func(h *hub) { h.security = `{"status": "pending"}` }, note: "pending"},
		{name: "stale", change: func(h *hub) { h.security = `{"status": "clean", "stale": true}` }, note: "stale"},
		{name: "not passed", change: func(h *hub) { h.security = `{"status": "clean", "passed": false}` }, note: "clean"},
		{name: "Review", change: func(h *hub) {
			h.verdict = `{"ok": false, "decision": "review", "slug": "weather", "version": "1.2.0", "security": {"status": "Review"}}`
		}, note: "Review"},
		{name: "a failed verdict that is clean", change: func(h *hub) {
			h.verdict = `{"ok": false, "decision": "fail", "slug": "weather", "version": "1.2.0", "security": {"status": "clean"}}`
		}, note: "fail"},
		{name: "an unknown word", change: func(h *hub) { h.security = `{"status": "odd\u001b[2J"}` }, note: "odd [2J"},
		{name: "a verdict on another version", change: func(h *hub) { h.verdict = strings.Replace(h.verdict, "1.2.0", "1.0.0", 1) }, note: "no security verdict on this version"},
		{name: "no verdicts", change: func(h *hub) { h.verdict = "" }, note: "no security verdict, as it answers 404"},

		{name: "malware", change: func(h *hub) { h.moderation = `{"isMalwareBlocked": true, "verdict": "clean"}` }, error: "malicious", refused: true},
		{name: "a malicious skill", change: func(h *hub) { h.moderation = `{"verdict": "Malicious"}` }, error: "malicious", refused: true},
		{name: "a malicious version", change: func(h *hub) { h.security = `{"status": "malicious"}` }, error: "malicious", refused: true},
		{name: "a blocked version", change: func(h *hub) { h.security = `{"status": "clean", "blockedFromDownload": true}` }, error: "blocked", refused: true},
		{name: "a malicious verdict", change: func(h *hub) {
			h.verdict = `{"ok": true, "decision": "pass", "reasons": ["moderation.malware_blocked"], "slug": "weather", "version": "1.2.0", "security": {"status": "clean"}}`
		}, error: "malware_blocked", refused: true},

		{name: "no such skill", source: "nothing", error: `has no skill "nothing"`},
		{name: "no such version", ref: "9", error: `no version "9" of weather; leave out @9 for the newest`},
		{name: "a version that was yanked", change: func(h *hub) { h.version = `, "yanked": true` }, error: "was withdrawn", refused: true},
		{name: "a version that was deleted", change: func(h *hub) {
			h.download = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusGone)
				w.Write([]byte("Version deleted\x1b[2J"))
				return true
			}
		}, error: `was deleted`, refused: true},
		{name: "a download that the registry blocks", change: func(h *hub) {
			h.download = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusForbidden)
				w.Write([]byte("Blocked: flagged as malicious"))
				return true
			}
		}, error: "flagged as malicious", refused: true},
		{name: "an ambiguous slug", source: "shared", error: "write one of clawhub:amy/shared, clawhub:zoe/shared"},
		{name: "changed content", change: func(h *hub) { h.packed["SKILL.md"] = strings.Replace(skillMD, "Hello", "Hallo", 1) }, error: `"SKILL.md" has another sha256`, refused: true},
		{name: "a file more", change: func(h *hub) { h.packed["evil.sh"] = "x" }, error: `"evil.sh" is in the download and not listed`, refused: true},
		{name: "a file less", change: func(h *hub) { delete(h.packed, "scripts/run.py") }, error: "is listed and not in the download", refused: true},
		{name: "a link more", change: func(h *hub) { h.packed["link"] = "-> SKILL.md" }, error: `"link" is in the download and not listed`, refused: true},
		{name: "a path out of the archive", change: func(h *hub) { h.packed["../x"] = "x" }, error: "../x"},
		{name: "no archive", change: func(h *hub) {
			h.download = func(w http.ResponseWriter, _ *http.Request) bool { w.Write([]byte("<html>")); return true }
		}, error: "neither a ZIP"},

		{name: "on GitHub", change: func(h *hub) { h.github = "/skills/weather/" },
			error: "install it from its repository: github:o/r#" + commit + ":skills/weather", refused: true},
		{name: "malware on GitHub", change: func(h *hub) { h.github, h.moderation = "x", `{"isMalwareBlocked": true}` }, error: "malicious", refused: true},
		{name: "another handoff", change: func(h *hub) {
			h.download = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Content-Type", "application/json")
				w.Write([]byte(`{"sourceRef": "skills-sh"}`))
				return true
			}
		}, error: "from its repository", refused: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHub()
			if test.change != nil {
				test.change(h)
			}
			server, f := faulttest.New(t, h), newFixture(t)
			defer f.close(t)
			s := source.Source{Kind: source.ClawHub, Name: "weather", Ref: test.ref}
			if test.source != "" {
				s.Name = test.source
			}
			fetcher := New(f.client, &Options{Registry: server.URL})
			got, err := fetcher.Fetch(t.Context(), source.Request{Source: s}, f.into)
			if test.error != "" {
				var refused *source.RefusedError
				if err == nil || !strings.Contains(err.Error(), test.error) || errors.As(err, &refused) != test.refused {
					t.Errorf("the error %v (refused: %v) does not say %q", err, !test.refused, test.error)
				}
				if err != nil && strings.ContainsRune(err.Error(), 0x1b) {
					t.Errorf("the error %q would act on a terminal", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkFetched(t, f, got, test.note, h.files != nil)
			if revision, err := fetcher.Revision(t.Context(), s); err != nil || revision != got.Revision {
				t.Errorf("Revision = %q, %v; want %q", revision, err, got.Revision)
			}
		})
	}
}

// checkFetched checks the content of a success, and its notes.
func checkFetched(t *testing.T, f *fixture, got *source.Fetched, note string, proved bool) {
	t.Helper()
	if names := f.names(t); !slices.Contains(names, "weather/SKILL.md") || slices.Contains(names, "weather/README.md") || got.Trees[0].Path != "weather" {
		t.Errorf("fetched %v as %+v", names, got.Trees)
	}
	if err := f.into.Seal(); err != nil {
		t.Error(err)
	}
	text := fmt.Sprint(got.Notes)
	suspicious := slices.ContainsFunc(got.Notes, func(n source.Note) bool { return n.Suspicious })
	if suspicious != (note != "") || !strings.Contains(text, note) || strings.ContainsRune(text, 0x1b) {
		t.Errorf("the notes %q do not say %q", text, note)
	}
	if checked := fmt.Sprint(got.Checked); strings.Contains(checked, "sha256") != proved || strings.Contains(text, "nothing proves") == proved {
		t.Errorf("checked %q beside the notes %q", checked, text)
	}
}

// An API at another host than the site's must be public.
func TestRegistryElsewhere(t *testing.T) {
	api := faulttest.New(t, newHub())
	site := faulttest.New(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"apiBase": %q}`, api.URL)
	}))
	f := newFixture(t)
	defer f.close(t)
	_, err := New(f.client, &Options{Registry: site.URL}).Fetch(t.Context(), source.Request{Source: source.Source{Name: "weather"}}, f.into)
	if err == nil || len(api.Requests("")) > 0 {
		t.Errorf("a private host that a site names was asked: %v", err)
	}
}

// Each fault before each call: the skill is there whole, or an error says why.
func TestFaults(t *testing.T) {
	faults := []struct {
		name  string
		chain []faulttest.Fault
		error string // "" is success
	}{
		{"cut at once", []faulttest.Fault{faulttest.Cut(0)}, "cuts the connection"},
		{"cut in the middle", []faulttest.Fault{faulttest.Cut(20)}, "cuts the connection"},
		{"busy", []faulttest.Fault{faulttest.Status(429, "1"), faulttest.Status(503, "2")}, ""},
		{"busy for long", []faulttest.Fault{faulttest.Status(429, "86400")}, "429"},
		{"broken", []faulttest.Fault{faulttest.Status(500, "")}, "500"},
		{"other content", []faulttest.Fault{faulttest.Body([]byte("7"))}, "answer as a ClawHub registry"},
		{"a private address", []faulttest.Fault{faulttest.Redirect("https://10.0.0.1/x")}, "not of the public internet"},
	}
	const downloadPath, skillPath = "/api/v1/download", "/api/v1/skills/weather"
	for _, path := range []string{skillPath, skillPath + "/versions/1.2.0", downloadPath} {
		for _, test := range faults {
			t.Run(path+"/"+test.name, func(t *testing.T) {
				server, f := faulttest.New(t, newHub()), newFixture(t)
				defer f.close(t)
				server.Fail(path, test.chain...)
				_, err := New(f.client, &Options{Registry: server.URL}).Fetch(t.Context(), source.Request{Source: source.Source{Name: "weather"}}, f.into)
				want := test.error
				if want == "answer as a ClawHub registry" && path == downloadPath {
					want = "neither"
				}
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("the error %v does not say %q", err, want)
				}
			})
		}
	}
}

func TestSearch(t *testing.T) {
	server, f := faulttest.New(t, newHub()), newFixture(t)
	defer f.close(t)
	got, err := New(f.client, nil).Search(t.Context(), server.URL, "what is the weather?", 5)
	want := []Hit{{"steipete/weather", "Weather [2J", "Tells it.", "1.2.0", 12}, {Name: "bare"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Search = %+v, %v; want %+v", got, err, want)
	}
	query := server.Requests("/api/v1/search")[0].URL.Query()
	if query.Get("q") != "what is the weather?" || query.Get("limit") != "5" || query.Get("nonSuspiciousOnly") != "true" {
		t.Errorf("asked for %v", query)
	}
}

// FuzzAnswers finds no answer that ends the program, or that lets malware through.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"isMalwareBlocked": true}`), []byte(`{"status": "clean", "passed": true}`), []byte(`{"ok": true, "decision": "pass", "security": {"status": "clean"}}`))
	f.Add([]byte(`null`), []byte(`{"status": "malicious"}`), []byte(`{"code": "AMBIGUOUS_SKILL_SLUG", "matches": [{"ownerHandle": "a", "slug": "b"}]}`))
	f.Fuzz(func(t *testing.T, first, second, third []byte) {
		var m moderation
		if json.Unmarshal(first, &m) == nil {
			if s := m.state(); m.IsMalwareBlocked && (!s.malicious || s.clean) {
				t.Errorf("%s: %+v", first, s)
			}
		}
		var v security
		if json.Unmarshal(second, &v) == nil {
			if s := v.state(nil); s.clean && (s.malicious || v.Pending || v.Stale) || strings.ContainsFunc(s.text(), unprintable) {
				t.Errorf("%s: %+v", second, s)
			}
		}
		if err := ambiguous(third); err != nil && strings.ContainsFunc(err.Error(), unprintable) {
			t.Errorf("%s: %q", third, err)
		}
	})
}
