package skillsext

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// uris are all that an entry lists.
func uris(e *Entry) (all []string) {
	resources, _ := e.Resources.([]Resource)
	for _, r := range resources {
		all = append(all, r.URI)
	}
	return all
}

func isRefused(err error) bool {
	refused := (*NotServedError)(nil)
	return errors.As(err, &refused)
}

// What is listed can be read, what is not cannot, and nothing leads out.
func TestOnlyTheFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	s := newShelf(t, map[string]string{
		"a/SKILL.md": skillMD("a"), "a/docs/one two.md": "1", "a/.hidden": "2", "a/.git/config": "secret",
		"a/docs/.git/config": "secret", "a/sub/SKILL.md": skillMD("sub"), "a/%2e%2e": "3",
		"b/SKILL.md": skillMD("b"), "secret": "secret",
	})
	s.link("docs/one two.md", "a/inside")
	s.link("docs", "a/folder")
	s.link("../secret", "a/outside")
	s.link("../b", "a/other")
	s.link("nowhere", "a/dangling")
	l := s.library()
	entry, err := l.Get(t.Context(), "skill://a/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"skill://a/%252e%252e", "skill://a/.hidden", "skill://a/SKILL.md", "skill://a/docs/one%20two.md", "skill://a/inside", "skill://a/sub/SKILL.md",
	}
	if diff := cmp.Diff(want, uris(entry)); diff != "" {
		t.Error(diff)
	}
	for _, r := range entry.Resources.([]Resource) {
		file, err := l.Read(r.URI)
		if err != nil {
			t.Errorf("%s: %v", r.URI, err)
		} else if got := resource(r.URI, file.Data); got != r {
			t.Errorf("listed %+v, served %+v", r, got)
		}
	}
	for _, uri := range []string{
		"skill://a/outside", "skill://a/other/SKILL.md", "skill://a/folder/one%20two.md", "skill://a/dangling", "skill://a/.git/config",
		"skill://a/docs/.git/config", "skill://a/../secret", "skill://a/%2e%2e/secret", "skill://a/docs", "skill://a", "skill://none/SKILL.md",
		"skill://a/SKILL.md/x", "skill://secret",
	} {
		if file, err := l.Read(uri); !isRefused(err) {
			t.Errorf("%s: %v, %v", uri, file, err)
		}
	}
	for _, uri := range []string{"skill://a/.git", "skill://a/folder", "skill://a/other", "skill://a/SKILL.md", "skill://a/none", "skill://a/"} {
		if children, _, err := l.Directory(uri, ""); !isRefused(err) {
			t.Errorf("%s: %v, %v", uri, children, err)
		}
	}
}

func TestGet(t *testing.T) {
	s := newShelf(t, map[string]string{
		"good/SKILL.md":       skillMD("good"),
		"under/SKILL.md":      skillMD("un_der"),
		"silent/SKILL.md":     "---\nname: silent\n---\nText.\n",
		"repaired/SKILL.md":   "---\nname: repaired\ndescription: one: two\n---\n",
		"late/SKILL.md":       "\n" + skillMD("late"),
		"meta/SKILL.md":       "---\nname: meta\ndescription: x\nmetadata: {version: 1.0}\n---\n",
		"mark/SKILL.md":       "\ufeff" + skillMD("mark"),
		"twice/SKILL.md":      "---\nname: twice\ndescription: x\nlicense: A\nlicense: B\n---\n",
		"lower/skill.md":      skillMD("lower"),
		"json/skill.json":     `{"name": "json", "description": "x", "entry": "run"}`,
		"json/run":            "#!/bin/sh\n",
		"person/SKILL.md":     "---\nname: person\ndescription: x\ndisable-model-invocation: true\n---\n",
		"p/plugin.json":       `{"name": "p"}`,
		"p/skills/x/SKILL.md": skillMD("x"),
		"p/commands/do.md":    "Do it.\n",
		"q/SKILL.md":          skillMD("p"), // named as the plugin is
		"q/x/notes":           "in the place of p/x",
	})
	if err := os.Chmod(s.path("json/run"), 0o755); err != nil {
		t.Fatal(err)
	}
	l := s.library()
	for _, test := range []struct{ uri, refused string }{
		{"skill://good/SKILL.md", ""},
		{"skill://person/SKILL.md", ""},
		{"skill://p/x/SKILL.md", ""},
		{"skill://good", "no skill is served"},
		{"skill://good/skill.md", "no skill is served"},
		{"skill://un_der/SKILL.md", `the name "un_der" is not one that the standard allows`},
		{"skill://silent/SKILL.md", "there is no description"},
		{"skill://repaired/SKILL.md", "is not YAML"},
		{"skill://late/SKILL.md", "does not begin with frontmatter"},
		{"skill://meta/SKILL.md", `"version" in metadata is not text`},
		{"skill://mark/SKILL.md", "byte order mark"},
		{"skill://twice/SKILL.md", "there twice"},
		{"skill://lower/SKILL.md", "no skill is served"},
		{"skill://json/SKILL.md", "no skill is served"},
		{"skill://p/do/SKILL.md", "no skill is served"},
		{"", "no skill is served"},
	} {
		entry, err := l.Get(t.Context(), test.uri)
		switch {
		case test.refused == "" && (err != nil || entry.URI != test.uri):
			t.Errorf("%s: %+v, %v", test.uri, entry, err)
		case test.refused != "" && (!isRefused(err) || !strings.Contains(err.Error(), test.refused)):
			t.Errorf("%s: %v, want %q", test.uri, err, test.refused)
		}
	}
	if got, want := listed(t, l), []string{"skill://good/SKILL.md", "skill://p/SKILL.md", "skill://p/x/SKILL.md"}; !cmp.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

// listed pages through all entries, and returns their URIs.
func listed(t *testing.T, l *Library) (all []string) {
	t.Helper()
	for cursor := ""; ; {
		page, next, err := l.List(t.Context(), cursor, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range page {
			var e Entry
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			all = append(all, e.URI)
		}
		if next == "" {
			return all
		}
		if next == cursor || len(page) == 0 {
			t.Fatalf("the cursor %q leads nowhere", next)
		}
		cursor = next
	}
}

func TestPages(t *testing.T) {
	files := map[string]string{}
	var want, wantChildren []string
	for i := range 2*pageSkills + 1 {
		name := fmt.Sprintf("s%03d", i)
		files[name+"/SKILL.md"] = skillMD(name)
		want = append(want, "skill://"+name+"/SKILL.md")
	}
	for i := range 2 * pageChildren {
		name := fmt.Sprintf("f%03d", i)
		files["s000/many/"+name] = name
		wantChildren = append(wantChildren, name)
	}
	l := newShelf(t, files).library()
	if diff := cmp.Diff(want, listed(t, l)); diff != "" {
		t.Error(diff)
	}
	var names []string
	for cursor, first := "", true; first || cursor != ""; first = false {
		children, next, err := l.Directory("skill://s000/many", cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range children {
			names = append(names, c.Name)
		}
		cursor = next
	}
	if diff := cmp.Diff(wantChildren, names); diff != "" {
		t.Error(diff)
	}
	if _, _, err := l.List(t.Context(), "no base64!", slog.New(slog.DiscardHandler)); !isRefused(err) {
		t.Errorf("a cursor that is none: %v", err)
	}
	// The skill that a cursor names may have gone since.
	if page, _, err := l.List(t.Context(), encodeCursor("s100a"), slog.New(slog.DiscardHandler)); err != nil || len(page) != 0 {
		t.Errorf("%d entries, %v", len(page), err)
	}
}

func TestExcess(t *testing.T) {
	for _, test := range []struct {
		name   string
		files  int
		bytes  int64 // of one file more
		excess bool
	}{
		{"as many as may be", maxFiles - 2, 1, false},
		{"one file too many", maxFiles - 1, 1, true},
		{"one byte too many", 0, maxBytes, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t, map[string]string{"a/SKILL.md": skillMD("a"), "a/large": ""})
			for i := range test.files {
				s.write(fmt.Sprintf("a/f%d", i), "")
			}
			if err := os.Truncate(s.path("a/large"), test.bytes); err != nil {
				t.Fatal(err)
			}
			l := s.library()
			entry, err := l.Get(t.Context(), "skill://a/SKILL.md")
			if err != nil {
				t.Fatal(err)
			}
			if (entry.Resources == dynamic) != test.excess {
				t.Errorf("resources %.200v", entry.Resources)
			}
			if p := Excess(t.Context(), l.Skill("skill://a")); (p != nil) != test.excess {
				t.Errorf("problem %v", p)
			}
		})
	}
}

// A digest is kept only of a file that cannot change unseen.
func TestDigestsAreOfNow(t *testing.T) {
	s := newShelf(t, map[string]string{"a/SKILL.md": skillMD("a"), "a/data": "one"})
	l, uri, file := s.library(), "skill://a/data", s.path("a/data")
	old := time.Now().Add(-time.Hour)
	set := func(text string) {
		s.write("a/data", text)
		if runtime.GOOS != "linux" {
			return // only there a time of change is known that nobody sets
		}
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"one", "two", "six"} { // same size, same time
		set(text)
		if got := l.Digest(t.Context(), uri); got != resource("", []byte(text)).Digest {
			t.Errorf("the digest of %q is not its own", text)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := l.Digest(t.Context(), uri); got != "" {
		t.Errorf("a file that is gone has the digest %s", got)
	}
}

// What is known is not read again.
func TestDigestsAreKept(t *testing.T) {
	s := newShelf(t, map[string]string{"a/SKILL.md": skillMD("a"), "a/data": "one"})
	l := s.library()
	skill := l.Skill("skill://a")
	info, err := look(skill.Files, "data")
	if err != nil {
		t.Fatal(err)
	}
	k, err := read(skill.Files, "data")
	if err != nil {
		t.Fatal(err)
	}
	if k.stamp.Ino != 0 {
		t.Error("a file that was just written counts as settled")
	}
	k.stamp, k.digest = stamp.Of(info), "sha256:kept"
	s.digests.put(place{skill.Dir, "data"}, k)
	if got := l.Digest(t.Context(), "skill://a/data"); got != "sha256:kept" {
		t.Errorf("digest %s", got)
	}
	for i := range maxKnown {
		s.digests.put(place{"", fmt.Sprint(i)}, known{})
	}
	if n := len(s.digests.known); n > maxKnown {
		t.Errorf("%d digests are kept", n)
	}
}

func TestHead(t *testing.T) {
	for cut := range 4 {
		text := strings.Repeat("x", 512-cut) + "𝄞𝄞"
		l := newShelf(t, map[string]string{"a/SKILL.md": skillMD("a"), "a/data": text}).library()
		got := string(head(l.Skill("skill://a").Files, "data"))
		if want := strings.Repeat("x", 512-cut); got != want {
			t.Errorf("%d bytes into a character: %d bytes, %q", cut, len(got), got[500:])
		}
	}
}

// Skills of one name in one root are told apart by a folder's name in the URI.
func TestFoldersOfOneName(t *testing.T) {
	s := newShelf(t, map[string]string{
		"alice/deploy/SKILL.md": skillMD("deploy"), "alice/deploy/x": "alice", "bob/deploy/SKILL.md": skillMD("deploy"), "bob/deploy/x": "bob",
	})
	l := s.library()
	for _, name := range []string{"alice", "bob"} {
		entry, err := l.Get(t.Context(), "skill://"+name+"/deploy/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"skill://" + name + "/deploy/SKILL.md", "skill://" + name + "/deploy/x"}, uris(entry)); diff != "" {
			t.Error(diff)
		}
		if file, err := l.Read("skill://" + name + "/deploy/x"); err != nil || string(file.Data) != name {
			t.Errorf("%s: %v, %v", name, file, err)
		}
	}
}
