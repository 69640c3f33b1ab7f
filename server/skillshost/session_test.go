package skillshost

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A skill is listed, fetched and verified in both generations of the protocol.
func TestSession(t *testing.T) {
	files := map[string]string{
		"skill://a/SKILL.md":                skill("a", "Body"),
		"skill://a/refs/one%20two.md":       "text\n",
		"skill://plugin/deep/b/SKILL.md":    skill("b", ""),
		"skill://plugin/deep/b/run.sh":      "#!/bin/sh\n",
		"skill://plugin/deep/b/c/SKILL.md":  skill("c", "nested"),
		"skill://plugin/deep/b/c/empty.txt": "",
	}
	for _, legacy := range []bool{false, true} {
		t.Run(fmt.Sprintf("legacy %v", legacy), func(t *testing.T) {
			f := newFake(t, files)
			f.legacy = legacy
			s := f.connect(t, nil)
			l, err := s.List(t.Context())
			must(t, err)
			if len(l.Entries) != 3 || len(l.Faults) != 0 || l.TTL != time.Minute {
				t.Fatalf("%d entries, faults %v, for %v", len(l.Entries), l.Faults, l.TTL)
			}
			if read := f.requests("resources/"); len(read) > 0 {
				t.Errorf("listing has fetched %q", read)
			}
			e, err := s.Get(t.Context(), "skill://plugin/deep/b/SKILL.md")
			must(t, err)
			if e.Set() != l.find(e.URI).Set() {
				t.Error("skills/get and skills/list state different sets")
			}
			got, err := fetchAll(t, s, e)
			must(t, err)
			want := map[string]string{"SKILL.md": skill("b", ""), "run.sh": "#!/bin/sh\n", "c/SKILL.md": skill("c", "nested"), "c/empty.txt": ""}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			got, err = fetchAll(t, s, l.find("skill://a/SKILL.md"))
			must(t, err)
			if got["refs/one two.md"] != "text\n" {
				t.Errorf("files %q", got)
			}
		})
	}
}

// A file that is not as its entry states it ends the fetch: nothing after it is read.
func TestVerification(t *testing.T) {
	uri, other := "skill://a/SKILL.md", "skill://a/z.md"
	text := skill("a", "Body")
	for _, test := range []struct {
		name  string
		serve string // in place of SKILL.md
		entry func(e object)
		want  string
	}{
		{"as stated", text, nil, ""},
		{"another digest", strings.Replace(text, "Body", "Evil", 1), nil, "has not the digest"},
		{"longer", text + "x", nil, "has 46 bytes, and its server states 45"},
		{"a field differs", text, func(e object) { e["frontmatter"].(object)["description"] = "Another" }, `the field "description" in its SKILL.md is not the one`},
		{"a field more in the entry", text, func(e object) { e["frontmatter"].(object)["license"] = "MIT" }, `the field "license" in its SKILL.md is not the one`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, map[string]string{uri: text, other: "z"})
			entry := f.entry(uri)
			if test.entry != nil {
				test.entry(entry)
			}
			f.reply = func(method string, params object) any {
				switch {
				case method == "skills/get":
					return object{"skill": entry}
				case method == "resources/read" && params["uri"] == uri:
					return object{"contents": []object{{"uri": uri, "text": test.serve}}}
				}
				return nil
			}
			s := f.connect(t, nil)
			e, err := s.Get(t.Context(), uri)
			must(t, err)
			_, err = fetchAll(t, s, e)
			wants(t, err, test.want)
			if wrong := (*VerificationError)(nil); err != nil && !errors.As(err, &wrong) {
				t.Errorf("%T is no failed verification", err)
			}
			if read := f.requests("resources/read " + other); err != nil && len(read) > 0 {
				t.Error("it went on after a failed verification")
			}
		})
	}
}

// The frontmatter of the file has a field that the entry does not have.
func TestUnstatedField(t *testing.T) {
	text := "---\nname: a\ndescription: The skill a\nallowed-tools: Bash\n---\n"
	f := newFake(t, map[string]string{"skill://a/SKILL.md": text})
	s := f.connect(t, nil)
	e, err := s.Get(t.Context(), "skill://a/SKILL.md")
	must(t, err)
	_, err = fetchAll(t, s, e)
	wants(t, err, `has not stated the field "allowed-tools"`)
}

// Numbers are the same if JSON cannot tell them apart.
func TestLargeNumber(t *testing.T) {
	uri := "skill://a/SKILL.md"
	f := newFake(t, map[string]string{uri: "---\nname: a\ndescription: The skill a\nid: 1234567890123456789\n---\n"})
	entry := f.entry(uri)
	entry["frontmatter"].(object)["id"] = int64(1234567890123456789)
	f.reply = func(method string, _ object) any {
		if method == "skills/get" {
			return object{"skill": entry}
		}
		return nil
	}
	s := f.connect(t, nil)
	e, err := s.Get(t.Context(), uri)
	must(t, err)
	_, err = fetchAll(t, s, e)
	must(t, err)
}

// Entries that break a rule are faults of the listing, and the others stay.
func TestEntries(t *testing.T) {
	good := func() object {
		return object{"uri": "skill://a/SKILL.md", "frontmatter": object{"name": "a", "description": "x"}, "resources": []object{resource("skill://a/SKILL.md", "")}}
	}
	with := func(uris ...string) object {
		e := good()
		for _, uri := range uris {
			e["resources"] = append(e["resources"].([]object), resource(uri, ""))
		}
		return e
	}
	set := func(key string, value any) object {
		e := good()
		e[key] = value
		return e
	}
	many := make([]string, maxFiles)
	for i := range many {
		many[i] = fmt.Sprintf("skill://a/f%d", i)
	}
	large := good()
	large["resources"].([]object)[0]["size"] = maxBytes + 1
	badDigest := good()
	badDigest["resources"].([]object)[0]["digest"] = "sha256:../../etc/passwd"
	for _, test := range []struct {
		name  string
		entry any
		want  string
	}{
		{"good", good(), ""},
		{"files in folders", with("skill://a/x/1", "skill://a/x/2", "skill://a/X1"), ""},
		{"no object", "text", "is not as the extension has it"},
		{"no files", set("resources", []object{}), "do not have its SKILL.md"},
		{"no list", set("resources", "all"), "no list"},
		{"dynamic", set("resources", "dynamic"), `"dynamic"`},
		{"another name", set("frontmatter", object{"name": "b", "description": "x"}), "is not that of its URI"},
		{"no description", set("frontmatter", object{"name": "a"}), "description is missing"},
		{"a name in capitals", object{"uri": "skill://A/SKILL.md", "frontmatter": object{"name": "A", "description": "x"}}, "not one that the Agent Skills standard allows"},
		{"another scheme", set("uri", "file:///a/SKILL.md"), "is no skill:// URI"},
		{"no skill", set("uri", "skill://a/README.md"), "does not end with"},
		{"huge", set("frontmatter", object{"name": "a", "description": strings.Repeat("x", maxEntry)}), "has more than"},
		{"too many files", with(many...), "more than 512 files"},
		{"too large", large, "no size that is accepted"},
		{"no digest", badDigest, "no sha256 digest"},
		{"up", with("skill://a/../b"), "names no file"},
		{"up, encoded", with("skill://a/%2e%2e/b"), "names no file"},
		{"a slash, encoded", with("skill://a/..%2fb"), "names no file"},
		{"a backslash", with(`skill://a/..\b`), "names no file"},
		{"a drive", with("skill://a/c:x"), "names no file"},
		{"NUL", with("skill://a/x%00"), "names no file"},
		{"bidi", with("skill://a/x%E2%80%AEfdp"), "invisible characters"},
		{"a repository", with("skill://a/.GIT/config"), "folder of a program"},
		{"absolute", with("skill:///etc/passwd"), "names no file"},
		{"a query", with("skill://a/x?y"), "is no skill:// URI"},
		{"of another skill", with("skill://b/x"), "is not in its folder"},
		{"twice", with("skill://a/x", "skill://a/x"), "two files"},
		{"twice, by case", with("skill://a/skill.md"), "two files"},
		{"twice, by Unicode", with("skill://a/%C3%A9", "skill://a/e%CC%81"), "two files"},
		{"folders by case", with("skill://a/Docs/x", "skill://a/docs/y"), "two files"},
		{"a file and a folder", with("skill://a/x", "skill://a/x/y"), "two files"},
		{"deep", with("skill://a/" + strings.Repeat("x/", 30) + "y"), "more than 20 folders"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, nil)
			f.reply = func(method string, _ object) any {
				if method != "skills/list" {
					return nil
				}
				other := object{"uri": "skill://other/SKILL.md", "digest": "sha256:" + strings.Repeat("0", 64), "size": 1}
				return pageOf("", test.entry, object{"uri": "skill://other/SKILL.md", "frontmatter": object{"name": "other", "description": "x"}, "resources": []object{other}})
			}
			l, err := f.connect(t, nil).List(t.Context())
			must(t, err)
			if l.find("skill://other/SKILL.md") == nil {
				t.Error("the other skill is lost")
			}
			wants(t, errors.Join(l.Faults...), test.want)
		})
	}
}

// Lists and replies without an end, or of a size that nobody needs, are errors.
func TestBounds(t *testing.T) {
	page := 0
	for _, test := range []struct {
		name  string
		reply func(method string, params object) any
		want  string
	}{
		{"the same cursor again", func(string, object) any { return pageOf("again") }, "it repeats a cursor"},
		{"endless pages", func(string, object) any { page++; return pageOf(fmt.Sprint(page)) }, "more than 100 pages"},
		{"too many skills", func(string, object) any { return pageOf("", names(maxEntries+1)...) }, "more than 1000 skills"},
		{"a huge page", func(string, object) any { return pageOf("", strings.Repeat("x", maxPage)) }, "larger than"},
		{"no page", func(string, object) any { return "text" }, "is not as the extension has it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, nil)
			f.reply = func(method string, params object) any {
				if method == "skills/list" {
					return test.reply(method, params)
				}
				return nil
			}
			_, err := f.connect(t, nil).List(t.Context())
			wants(t, err, test.want)
		})
	}
}

// The reply with a file may have the size that its entry states, and little more.
func TestLargeFile(t *testing.T) {
	uri := "skill://a/SKILL.md"
	f := newFake(t, map[string]string{uri: skill("a", "")})
	s := f.connect(t, nil)
	e, err := s.Get(t.Context(), uri)
	must(t, err)
	f.reply = func(method string, _ object) any {
		return object{"contents": []object{{"uri": uri, "text": strings.Repeat("x", 8<<20)}}}
	}
	_, err = fetchAll(t, s, e)
	wants(t, err, "larger than")
}

// Replies about something else are no replies.
func TestOtherReplies(t *testing.T) {
	uri := "skill://a/SKILL.md"
	for _, test := range []struct {
		name  string
		reply any
		want  string
	}{
		{"another file", object{"contents": []object{{"uri": "skill://b/SKILL.md", "text": ""}}}, "is not the one file"},
		{"two files", object{"contents": []object{{"uri": uri, "text": ""}, {"uri": uri, "text": ""}}}, "is not the one file"},
		{"both", object{"contents": []object{{"uri": uri, "text": "", "blob": ""}}}, "neither a text nor a blob"},
		{"no base64", object{"contents": []object{{"uri": uri, "blob": "*"}}}, "illegal base64"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, map[string]string{uri: skill("a", "")})
			s := f.connect(t, nil)
			e, err := s.Get(t.Context(), uri)
			must(t, err)
			f.reply = func(method string, _ object) any { return test.reply }
			_, err = fetchAll(t, s, e)
			wants(t, err, test.want)
		})
	}
}

// A server without the extension, one that is silent, one that sends the client on, and
// one that is not there are no servers of skills.
func TestConnect(t *testing.T) {
	mute := newFake(t, nil)
	mute.mute = true
	_, err := Connect(t.Context(), mute.address(), nil)
	if !errors.Is(err, ErrNoSkills) {
		t.Errorf("error %v", err)
	}
	done := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(silent.Close)
	t.Cleanup(func() { close(done) })
	_, err = Connect(t.Context(), Address{URL: silent.URL}, &Options{Request: 200 * time.Millisecond})
	wants(t, err, "agree with the server")
	away := httptest.NewServer(http.RedirectHandler(mute.URL, http.StatusTemporaryRedirect))
	t.Cleanup(away.Close)
	_, err = Connect(t.Context(), Address{URL: away.URL}, nil)
	wants(t, err, "which is followed nowhere")
	if len(mute.requests("")) != 1 {
		t.Errorf("the redirect was followed: %q", mute.requests(""))
	}
	_, err = Connect(t.Context(), Address{Command: []string{"no-such-program-anywhere"}}, nil)
	wants(t, err, "start the server")
}

// A server's words in an error are short, and do nothing to a terminal.
func TestForeignWords(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("\x1b[2J\u202e" + strings.Repeat("x\n", 4000)))
	}))
	t.Cleanup(s.Close)
	_, err := Connect(t.Context(), Address{URL: s.URL}, nil)
	if err == nil || len(err.Error()) > maxMessage+100 || strings.ContainsAny(err.Error(), "\x1b\u202e\n") {
		t.Errorf("error %q", err)
	}
}

// The token goes to the server, and into no error.
func TestToken(t *testing.T) {
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	_, err := Connect(t.Context(), Address{URL: s.URL}, &Options{Token: "s3cret"})
	if got != "Bearer s3cret" || err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("sent %q, error %v", got, err)
	}
}

// A program that prints without an end, or that does not end with its input, is ended.
func TestPrograms(t *testing.T) {
	shell, err := os.Stat("/bin/sh")
	if err != nil || shell.IsDir() {
		t.Skip("there is no /bin/sh")
	}
	for _, test := range []struct{ name, script, want string }{
		{"it fails", "echo broken >&2; exit 3", `the server printed "broken\n"`},
		{"an endless line", "exec cat /dev/zero", "larger than"},
		{"it stays", "trap '' TERM; while :; do read x || :; done", "agree with the server"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Connect(t.Context(), Address{Command: []string{"/bin/sh", "-c", test.script}}, &Options{Request: time.Second, Env: os.Environ()})
			wants(t, err, test.want)
		})
	}
}

func TestParseAddress(t *testing.T) {
	for _, test := range []struct{ text, want, wrong string }{
		{"mcp+https://example.com/mcp", "mcp+https://example.com/mcp", ""},
		{"https://example.com/mcp", "mcp+https://example.com/mcp", ""},
		{"mcp+http://127.0.0.1:8765/mcp", "mcp+http://127.0.0.1:8765/mcp", ""},
		{"mcp+http://[::1]:1/", "mcp+http://[::1]:1/", ""},
		{"mcp+http://localhost/", "mcp+http://localhost/", ""},
		{"mcp+stdio:npx -y server", "mcp+stdio:npx -y server", ""},
		{"mcp+stdio:sh -c it's", `mcp+stdio:sh -c 'it'\''s'`, ""},
		{"mcp+http://example.com/mcp", "", "plain http is for servers of this machine"},
		{"mcp+http://localhost.example.com/", "", "plain http"},
		{"mcp+https://user:pass@example.com/", "", "has a password"},
		{"mcp+https:///mcp", "", "names no host"},
		{"mcp+https://example.com/#x", "", "fragment"},
		{"mcp+https://example.com/ more", "", "has arguments"},
		{"mcp+stdio:", "", "write the server's program"},
		{"ftp://example.com", "", "write mcp+https://"},
		{"", "", "write mcp+https://"},
	} {
		a, err := ParseAddress(strings.Split(test.text, " "))
		wants(t, err, test.wrong)
		if err == nil && a.String() != test.want {
			t.Errorf("%q: %s", test.text, a)
		}
	}
	for _, label := range []string{"", "A", "a/b", "..", "a--b", "-a", strings.Repeat("a", 25), "a\n"} {
		if CheckLabel(label) == nil {
			t.Errorf("the label %q is accepted", label)
		}
	}
}

// Whatever an entry is, it is refused or has files with clean, different paths.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"x"},"resources":[{"uri":"skill://a/SKILL.md","digest":"sha256:` + strings.Repeat("0", 64) + `","size":1},{"uri":"skill://a/%C3%A9/x","digest":"sha256:` + strings.Repeat("0", 64) + `","size":1}]}`))
	f.Add([]byte(`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"x"},"resources":"dynamic"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parseEntry(data)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, r := range e.Files {
			for part := range strings.SplitSeq(r.name, "/") {
				if checkName(part) != nil {
					t.Errorf("the path %q", r.name)
				}
			}
			if seen[fold(r.name)] {
				t.Errorf("the path %q twice", r.name)
			}
			seen[fold(r.name)] = true
		}
		if e.file(skillFile) == nil {
			t.Error("no SKILL.md")
		}
	})
}
