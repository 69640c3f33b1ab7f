package skillshost

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// connected returns a host with one server, work.
func connected(t *testing.T, f *fake) *Host {
	t.Helper()
	h := newHost(t)
	s := Server{Label: "work", Address: f.address()}
	l, err := h.List(t.Context(), s)
	must(t, err)
	must(t, h.Add(t.Context(), s, l))
	return h
}

// scanned returns the catalog of a host's skills.
func scanned(t *testing.T, h *Host) *skills.Catalog {
	t.Helper()
	c, err := scan.Scan(t.Context(), []scan.Root{{Source: skills.SourceExtra, FS: h.FS(), Label: Label, Plugins: true, Flat: true}}, nil)
	must(t, err)
	for _, p := range c.Problems {
		if !strings.Contains(p.Message, "are told apart by their folders") {
			t.Errorf("problem: %v", p)
		}
	}
	return c
}

// lookup returns a skill of the newest catalog.
func lookup(t *testing.T, h *Host, name string) *skills.Skill {
	t.Helper()
	s, err := scanned(t, h).Lookup(name)
	must(t, err)
	return s
}

// A skill of a server is in the catalog at once, fetched after a consent only, and whole
// then; it goes with its server.
func TestLife(t *testing.T) {
	f := newFake(t, map[string]string{
		"skill://a/SKILL.md": skill("a", "Body of a"), "skill://a/scripts/run.py": "#!/usr/bin/env python3\nprint('x')\n", "skill://a/nested/SKILL.md": skill("nested", "Body"),
		"skill://a/x/.claude-plugin/plugin.json": `{"name": "x"}`, "skill://a/x/skills/inner/SKILL.md": skill("inner", "Body"), "skill://a/plugin.json": `{"name": "y"}`,
		"skill://one/b/SKILL.md": skill("b", "one"), "skill://two/b/SKILL.md": skill("b", "two"),
	})
	h := connected(t, f)
	if got := scanned(t, h).Count(); got != 5 {
		t.Errorf("%d skills", got)
	}
	for _, name := range []string{"work/one/b", "work/two/b", "work/nested"} {
		lookup(t, h, name)
	}
	stub := lookup(t, h, "work/a")
	if o := stub.Origin(); o.Kind != skills.OriginMCP || !strings.HasPrefix(o.Place, "work/") {
		t.Errorf("origin %v", o)
	}
	if stub.Entry != nil || len(stub.Tools) > 0 || h.Fetched(stub) || h.Allowed(stub) {
		t.Error("a skill can be used before it is fetched")
	}
	if err := h.Fetch(t.Context(), stub); !errors.Is(err, ErrGone) {
		t.Errorf("fetched without a consent: %v", err)
	}
	proposed, err := h.Propose(stub)
	must(t, err)
	if proposed.Files != 6 || proposed.Server != "work" {
		t.Errorf("proposed %+v", proposed)
	}
	must(t, h.Consent(t.Context(), proposed))
	if read := f.requests("resources/read"); len(read) > 0 {
		t.Errorf("fetched %q before the skill was loaded", read)
	}
	must(t, h.Fetch(t.Context(), stub))
	full := lookup(t, h, "work/a")
	if text, _ := full.Text(); !strings.Contains(text, "Body of a") || !h.Fetched(full) || !h.Allowed(full) {
		t.Errorf("text %q", text)
	}
	if data, err := fs.ReadFile(full.Files, "scripts/run.py"); err != nil || !strings.HasPrefix(string(data), "#!") {
		t.Errorf("%q, %v", data, err)
	}
	if got := scanned(t, h).Count(); got != 5 {
		t.Errorf("%d skills, once one is fetched", got)
	}
	if nested := lookup(t, h, "work/nested"); h.Allowed(nested) || h.Fetched(nested) {
		t.Error("a nested skill has the consent of the one around it")
	}
	must(t, fstest.TestFS(h.FS(), "work/plugin.json"))
	found, err := h.Revoke(t.Context(), full)
	if !found || err != nil || h.Allowed(full) {
		t.Errorf("revoked %v, %v", found, err)
	}
	if again := lookup(t, h, "work/a"); h.Fetched(again) {
		t.Error("it is in the catalog without a consent")
	}
	found, err = h.Remove(t.Context(), "work")
	if left, _ := filepath.Glob(filepath.Join(h.shelf.dir, "*")); !found || err != nil || len(left) > 0 || scanned(t, h).Count() != 0 {
		t.Errorf("removed %v, %v; left %q", found, err, left)
	}
}

// load consents to a skill and fetches it.
func load(t *testing.T, h *Host, name string) error {
	t.Helper()
	s := lookup(t, h, name)
	proposed, err := h.Propose(s)
	must(t, err)
	if proposed != nil {
		must(t, h.Consent(t.Context(), proposed))
	}
	return h.Fetch(t.Context(), s)
}

// Any change of a skill revokes the consent: one of a file, one that is seen between
// listing and fetching, and one back to an earlier version.
func TestChange(t *testing.T) {
	f := newFake(t, map[string]string{"skill://a/SKILL.md": skill("a", "one"), "skill://a/x": "1"})
	h := connected(t, f)
	must(t, load(t, h, "work/a"))
	f.files["skill://a/x"] = "2"
	follow(t, h)
	if s := lookup(t, h, "work/a"); h.Allowed(s) || h.Fetched(s) {
		t.Error("the consent covers a changed file")
	}
	f.files["skill://a/x"] = "3" // since the listing
	if err := load(t, h, "work/a"); !errors.Is(err, ErrGone) {
		t.Errorf("fetched another version than the one consented to: %v", err)
	}
	s := lookup(t, h, "work/a")
	if h.Allowed(s) {
		t.Error("the consent covers the newest version")
	}
	must(t, load(t, h, "work/a"))
	if data, err := fs.ReadFile(lookup(t, h, "work/a").Files, "x"); string(data) != "3" {
		t.Errorf("%q, %v", data, err)
	}
}

// An entry that changes in its frontmatter alone is no other name for the files that are
// there.
func TestFrontmatterChanges(t *testing.T) {
	f := newFake(t, map[string]string{"skill://a/SKILL.md": skill("a", "one")})
	h := connected(t, f)
	must(t, load(t, h, "work/a"))
	entry := f.entry("skill://a/SKILL.md")
	entry["frontmatter"].(object)["description"] = "Another"
	f.reply = func(method string, _ object) any {
		switch method {
		case "skills/list":
			return pageOf("", entry)
		case "skills/get":
			return object{"skill": entry}
		}
		return nil
	}
	follow(t, h)
	if wrong := (*VerificationError)(nil); !errors.As(load(t, h, "work/a"), &wrong) {
		t.Error("the files count for another frontmatter")
	}
	if s := lookup(t, h, "work/a"); h.Fetched(s) {
		t.Error("it counts as fetched")
	}
}

// A server that does not answer skills/get is one whose files the digests prove.
func TestWithoutGet(t *testing.T) {
	f := newFake(t, map[string]string{"skill://a/SKILL.md": skill("a", "one")})
	f.reply = func(method string, _ object) any {
		if method == "skills/get" {
			return object{}
		}
		return nil
	}
	h := connected(t, f)
	must(t, load(t, h, "work/a"))
	f.files["skill://a/SKILL.md"] = skill("a", "two")
	_, err := h.Remove(t.Context(), "work")
	must(t, err)
	h = connected(t, f)
	f.files["skill://a/SKILL.md"] = skill("a", "six") // since the listing
	if wrong := (*VerificationError)(nil); !errors.As(load(t, h, "work/a"), &wrong) {
		t.Error("another version than the one consented to is used")
	}
	if s := lookup(t, h, "work/a"); h.Fetched(s) {
		t.Error("it counts as fetched")
	}
}

// follow has the servers asked once.
func follow(t *testing.T, h *Host) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changed := false
	h.Follow(ctx, func(context.Context) { changed = true; cancel() })
	if !changed {
		t.Error("nothing has changed")
	}
}

// A server is asked again after its notice, long before its listing is old.
func TestNotice(t *testing.T) {
	f := newFake(t, map[string]string{"skill://a/SKILL.md": skill("a", "one")})
	h := connected(t, f)
	h.FS().Open(".") // the catalog is that of the listing
	ctx, cancel := context.WithCancel(t.Context())
	followed, changes := make(chan struct{}), make(chan struct{}, 1)
	go func() {
		defer close(followed)
		h.Follow(ctx, func(context.Context) { changes <- struct{}{} })
	}()
	f.notices <- struct{}{} // there is a listener
	f.mu.Lock()
	f.files["skill://b/SKILL.md"] = skill("b", "two")
	f.mu.Unlock()
	f.notices <- struct{}{}
	<-changes
	lookup(t, h, "work/b")
	cancel()
	<-followed
}

// Nothing that skills-mcp has not written counts, and a file that was changed in the cache
// is not used.
func TestTampering(t *testing.T) {
	f := newFake(t, map[string]string{"skill://a/SKILL.md": skill("a", "one")})
	h := connected(t, f)
	must(t, load(t, h, "work/a"))
	blobs, _ := filepath.Glob(filepath.Join(h.shelf.path("work", filesDir), "*"))
	if len(blobs) != 1 {
		t.Fatalf("files %q", blobs)
	}
	s := lookup(t, h, "work/a")
	data, err := os.ReadFile(blobs[0])
	must(t, err)
	must(t, os.WriteFile(blobs[0], []byte(strings.Replace(string(data), "one", "two", 1)), 0o600))
	if _, err := fs.ReadFile(s.Files, "SKILL.md"); err == nil {
		t.Error("a changed file is read")
	}
	other := New(h.shelf.dir, h.shelf.store, seal.New(filepath.Join(t.TempDir(), "key"), nil), nil)
	if all, err := other.Servers(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("servers %v with another key, %v", all, err)
	}
}
