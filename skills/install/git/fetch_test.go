package git

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

const skillText = "---\nname: pdf\ndescription: D.\n---\nBody.\n"

// TestFetch fetches every kind of ref from every kind of server.
func TestFetch(t *testing.T) {
	for _, server := range []string{"daemon", "HTTP", "HTTP with filters", "old protocol", "folder", "file URL"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			old := map[string]string{"pdf/SKILL.md": "old"}
			first := o.files("main", old)
			now := map[string]string{"pdf/SKILL.md": skillText, "x:pdf/run.sh": "run\n", "l:pdf/link": "run.sh", "docx/a b/ü": "", "README.md": "r"}
			head := o.files("main", now)
			other := o.files("feature/x", map[string]string{"a/pdf/SKILL.md": "feature"})
			o.run("", "tag", "-m", "v", "v1", first)
			o.run("", "tag", "light", first)
			var location string
			switch server {
			case "daemon":
				location = o.daemon()
			case "HTTP with filters":
				o.run("", "config", "uploadpack.allowFilter", "true")
				location = o.serve(o.backend())
			case "old protocol":
				backend := o.backend()
				location = o.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					r.Header.Del("Git-Protocol")
					backend.ServeHTTP(w, r)
				}))
			case "folder":
				location = o.dir
			case "file URL":
				location = "file://" + o.dir
			default:
				location = o.serve(o.backend())
			}
			pdf := map[string]string{"SKILL.md": skillText, "x:run.sh": "run\n", "l:link": "run.sh"}
			for _, test := range []struct {
				ref, path, pin string
				want           map[string]string
				revision, in   string
			}{
				{want: now, revision: head},
				{ref: "main", want: now, revision: head},
				{ref: "refs/heads/main", want: now, revision: head},
				{ref: "feature/x", want: map[string]string{"a/pdf/SKILL.md": "feature"}, revision: other},
				{ref: "v1", want: old, revision: first},
				{ref: "light", want: old, revision: first},
				{ref: head, want: now, revision: head},
				{ref: first, want: old, revision: first},
				{path: "pdf", want: pdf, revision: head, in: "pdf"},
				{path: "/docx/a b/", want: map[string]string{"ü": ""}, revision: head, in: "docx/a b"},
				{ref: first, path: "pdf", want: map[string]string{"SKILL.md": "old"}, revision: first, in: "pdf"},
				{ref: "main", pin: first, want: old, revision: first},
			} {
				name := fmt.Sprintf("%s:%s@%s", test.ref, test.path, test.pin)
				r := request(location)
				r.Source.Ref, r.Source.Path, r.Source.Pin = test.ref, test.path, test.pin
				got, fetched, err := fetch(t, nil, r)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
				want := &source.Fetched{Revision: test.revision, Trees: []source.Tree{{Path: ".", In: test.in, Revision: test.revision}}}
				if test.pin != "" {
					want.Checked = []string{"the commit " + test.pin + ", named by the source"}
				}
				if diff := cmp.Diff(want, fetched); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
				revision, err := New(&Options{Env: gitEnv(t.TempDir())}).Revision(t.Context(), r.Source)
				if err != nil || revision != test.revision {
					t.Errorf("%s: revision %s, want %s: %v", name, revision, test.revision, err)
				}
			}
		})
	}
}

// TestProblems names the problem and its remedy.
func TestProblems(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.files("main", map[string]string{"pdf/SKILL.md": skillText})
	o.run("", "tag", "v1", "main")
	backend := o.backend()
	status := func(code int) string {
		return o.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "\x1b[31mno", code) }))
	}
	private := o.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	daemon := o.daemon()
	unused := o.serve(http.NotFoundHandler())
	for _, test := range []struct {
		name     string
		location string
		ref      string
		path     string
		options  Options
		want     Problem
		text     string
	}{
		{name: "no git", location: daemon, options: Options{Program: "git-that-is-not-there"}, want: NoGit, text: "install git"},
		{name: "private", location: private, want: Authentication, text: "log in"},
		{name: "wrong password", location: private, options: Options{Env: withHelper(t, "username=me", "password=wrong")}, want: Authentication},
		{name: "forbidden", location: status(403), want: Authentication},
		{name: "not found", location: unused, want: NotFound},
		{name: "daemon, not found", location: strings.Replace(daemon, "x.git", "y.git", 1), want: NotFound},
		{name: "folder, not found", location: o.root + "/y.git", want: NotFound},
		{name: "branch", location: daemon, ref: "mian", want: NoRef, text: `"mian"; choose one of: main, v1`},
		{name: "commit", location: daemon, ref: strings.Repeat("ab", 20), want: NoRef},
		{name: "short commit", location: daemon, ref: "abcdef1", want: NoRef, text: "no branch, tag or whole commit id"},
		{name: "path", location: daemon, path: "docx", want: NoPath, text: `no folder "docx"`},
		{name: "file as path", location: daemon, path: "pdf/SKILL.md", want: NoPath},
		{name: "overloaded", location: status(503), want: Busy},
		{name: "too many requests", location: status(429), want: Busy},
		{name: "refused", location: "http://127.0.0.1:1/x.git", want: Network},
		{name: "unknown host", location: "https://no-such-host.invalid/x.git", want: Network},
		{name: "wrong content", location: o.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") })), want: NotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := request(test.location)
			r.Source.Ref, r.Source.Path = test.ref, test.path
			_, _, err := fetch(t, &test.options, r)
			var problem *Error
			if !errors.As(err, &problem) {
				t.Fatalf("error %v (%T)", err, err)
			}
			if problem.Problem != test.want || !strings.Contains(err.Error(), test.text) || strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("problem %q, want %q: %v", problem.Problem, test.want, err)
			}
		})
	}
	t.Run("the person's credentials", func(t *testing.T) {
		t.Parallel()
		got, _, err := fetch(t, &Options{Env: withHelper(t, "username=me", "password=secret")}, request(private))
		if err != nil || got["pdf/SKILL.md"] != skillText {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// withHelper returns an environment whose settings have a credential helper.
func withHelper(t *testing.T, lines ...string) []string {
	home := t.TempDir()
	writeFile(t, home+"/.gitconfig", "[credential]\n\thelper = \"!f() { printf '"+strings.Join(lines, `\\n`)+`\\n'; }; f"`+"\n")
	return gitEnv(home)
}

// TestLimits ends a fetch that is larger than the quarantine.
func TestLimits(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	many := map[string]string{"README.md": "r", "skills/pdf/SKILL.md": skillText, "skills/pdf/a/b": "b", "skills/docx/SKILL.md": skillText, ".claude-plugin/marketplace.json": "{}", "lib/plugin/.claude-plugin/plugin.json": "{}", "lib/plugin/x": "x"}
	for i := range 40 {
		many[fmt.Sprintf("src/f%d", i)] = fmt.Sprint(i)
	}
	o.files("many", many)
	o.files("main", map[string]string{"a/large": noise(3 << 20), "b/SKILL.md": skillText})
	o.files("file", map[string]string{"zeros": strings.Repeat("\x00", 40<<20)})
	o.files("two", map[string]string{"a": strings.Repeat("a", 600<<10), "b": strings.Repeat("b", 600<<10)})
	o.run("", "config", "uploadpack.allowFilter", "true")
	location := o.serve(o.backend())
	limits := &quarantine.Limits{Files: 20, Total: 1 << 20, File: 700 << 10}
	at := func(ref, path string) source.Request {
		r := request(location)
		r.Source.Ref, r.Source.Path = ref, path
		return r
	}
	var tooLarge *Error
	var refused *quarantine.Error
	if _, _, err := fetchLimited(t, nil, at("", ""), limits); !errors.As(err, &refused) && (!errors.As(err, &tooLarge) || tooLarge.Problem != TooLarge) {
		t.Errorf("a large repository: %v", err)
	}
	if got, _, err := fetchLimited(t, nil, at("", "b"), limits); err != nil || len(got) != 1 {
		t.Errorf("a folder of a large repository: %v, %v", got, err)
	}
	for _, ref := range []string{"file", "two"} {
		if _, _, err := fetchLimited(t, nil, at(ref, ""), limits); !errors.As(err, &refused) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	var tooMany *source.RefusedError
	if _, _, err := fetchLimited(t, nil, at("many", ""), limits); !errors.As(err, &tooMany) || err.Error() != `the repository has 47 files; 20 are the limit; name a folder of it, such as ["skills/docx" "skills/pdf"]` {
		t.Errorf("many files: %v", err)
	}
	got, _, err := fetchLimited(t, nil, at("many", "skills/docx"), limits)
	if diff := cmp.Diff(map[string]string{"SKILL.md": skillText}, got); err != nil || diff != "" {
		t.Errorf("one skill among many files: %v: %s", err, diff)
	}
}

// TestNotes tells what is not fetched.
func TestNotes(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	lfs := "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
	o.commit("main", o.tree("100644 SKILL.md "+o.blob(skillText), "100644 big.bin "+o.blob(lfs), "160000 sub "+strings.Repeat("12", 20)))
	got, fetched, err := fetch(t, nil, request(o.dir))
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	want := []source.Note{{Text: `submodules are not fetched: ["sub"]`}, {Text: `files in Git LFS are not fetched, only the text that names them: ["big.bin"]`}}
	if diff := cmp.Diff(want, fetched.Notes); diff != "" {
		t.Error(diff)
	}
}

// TestProgress is told the objects as they come.
func TestProgress(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.files("main", map[string]string{"a": "1", "b": "2", "c": "3"})
	r := request(o.daemon())
	var done, total int64
	r.Progress = func(d, of int64) { done, total = d, of }
	if _, _, err := fetch(t, nil, r); err != nil || done != 5 || total != 5 {
		t.Errorf("%d of %d objects: %v", done, total, err)
	}
}
