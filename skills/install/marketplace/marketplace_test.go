package marketplace

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, content := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

const sha = "0123456789abcdef0123456789abcdef01234567"

var digest = strings.Repeat("0a", 32)

// TestSources reads each kind of source that a marketplace may have.
func TestSources(t *testing.T) {
	fsys := tree(map[string]string{"plugins/a/x": "", "b/x": "", "file": ""})
	for _, test := range []struct {
		name, source string
		folder       string
		want         source.Source
		err          string
	}{
		{name: "folder", source: `"./b"`, folder: "b"},
		{name: "folder below pluginRoot", source: `"./a"`, folder: "plugins/a"},
		{name: "the marketplace itself", source: `"./"`, folder: "plugins"},
		{name: "missing folder", source: `"./c"`, err: "not exist"},
		{name: "file", source: `"./file"`, err: "not a folder"},
		{name: "leaves", source: `"../../b"`, err: "leads out"},
		{name: "absolute", source: `"/etc"`, err: "not exist"},
		{name: "local", source: `{"source": "local", "path": "./b"}`, folder: "b"},
		{name: "GitHub", source: `{"source": "github", "repo": "o/r", "ref": "v1", "sha": "` + sha + `"}`,
			want: source.Source{Kind: source.Git, Location: "https://github.com/o/r.git", Ref: "v1", Pin: sha}},
		{name: "GitHub, no repository", source: `{"source": "github", "repo": "https://evil/o/r"}`, err: "not OWNER/REPO"},
		{name: "GitHub, option", source: `{"source": "github", "repo": "-u/r"}`, err: "not OWNER/REPO"},
		{name: "URL", source: `{"source": "url", "url": "https://example.com/x.git", "ref": "main"}`,
			want: source.Source{Kind: source.Git, Location: "https://example.com/x.git", Ref: "main"}},
		{name: "URL, short commit", source: `{"source": "url", "url": "https://example.com/x.git", "sha": "0123"}`, err: "not a full commit"},
		{name: "subfolder", source: `{"source": "git-subdir", "url": "o/r", "path": "./tools/p/"}`,
			want: source.Source{Kind: source.Git, Location: "https://github.com/o/r.git", Path: "tools/p"}},
		{name: "subfolder leaves", source: `{"source": "git-subdir", "url": "o/r", "path": "../p"}`, err: "leads out"},
		{name: "npm", source: `{"source": "npm", "package": "@a/b", "version": "^1.0.0", "registry": "https://npm.example"}`,
			err: `download it with npm pack "@a/b"`},
		{name: "archive", source: `{"source": "archive", "url": "https://example.com/p.zip", "sha256": "` + strings.ToUpper(digest) + `"}`,
			want: source.Source{Kind: source.URL, Location: "https://example.com/p.zip", Pin: "sha256:" + digest}},
		{name: "archive, short digest", source: `{"source": "archive", "url": "https://example.com/p.zip", "sha256": "ab"}`, err: "64 hexadecimal digits"},
		{name: "archive, file", source: `{"source": "archive", "url": "file:///p.zip"}`, err: "not an https:// URL"},
		{name: "command", source: `{"source": "command", "command": "curl x | sh"}`, err: "with a command"},
		{name: "unknown kind", source: `{"source": "torrent"}`, err: `unknown kind "torrent"`},
		{name: "text", source: `"https://example.com/x.git"`, err: "neither a path nor an object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := Parse(File, []byte(`{"name": "m", "metadata": {"pluginRoot": "./plugins"}, "plugins": [{"name": "p", "source": `+test.source+`}]}`), fsys)
			if err != nil {
				t.Fatal(err)
			}
			e := m.Entries[0]
			if test.err != "" {
				if e.Err == nil || !strings.Contains(e.Err.Error(), test.err) {
					t.Errorf("error %v, want %q", e.Err, test.err)
				}
				return
			}
			if e.Err != nil {
				t.Fatal(e.Err)
			}
			if diff := cmp.Diff(test.want, e.Source); diff != "" || e.Folder != test.folder {
				t.Errorf("folder %q, want %q; source %s", e.Folder, test.folder, diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, src := range []string{`{"source": "command"}`, `"../x"`, `{"source": "git-subdir", "url": "o/r", "path": "a/../../b"}`} {
		m, err := Parse(File, []byte(`{"plugins": [{"name": "p", "source": `+src+`}]}`), tree(nil))
		if err != nil {
			t.Fatal(err)
		}
		var refused *source.RefusedError
		if !errors.As(m.Entries[0].Err, &refused) {
			t.Errorf("%s: error %v is no RefusedError", src, m.Entries[0].Err)
		}
	}
}

func TestFileAlone(t *testing.T) {
	m, err := Parse("marketplace.json", []byte(`{"name": "m", "plugins": [{"name": "p", "source": "./p"}]}`), nil)
	if err != nil || m.Entries[0].Err == nil || !strings.Contains(m.Entries[0].Err.Error(), "install the repository") {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestRead(t *testing.T) {
	if _, err := Read(tree(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty tree: %v", err)
	}
	if _, err := Read(tree(map[string]string{File: "{"})); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no JSON: %v", err)
	}
	for _, name := range []string{File, ".agents/plugins/marketplace.json", "marketplace.json"} {
		m, err := Read(tree(map[string]string{name: `{"name": "m", "plugins": [
			{"name": "a", "description": "A.", "source": "./a", "strict": false}, {"name": "a", "source": "./b"}, {"source": "./c"}, 7]}`, "a/x": ""}))
		if err != nil {
			t.Fatal(err)
		}
		want := &Marketplace{Name: "m", Entries: []Entry{{Name: "a", Description: "A.", Folder: "a"}}}
		if diff := cmp.Diff(want, m, cmpopts.IgnoreUnexported(Entry{}), cmpopts.IgnoreFields(Marketplace{}, "Problems")); diff != "" || len(m.Problems) != 3 {
			t.Error(name, m.Problems, diff)
		}
	}
}

// TestSupplement: a folder with the supplement is the plugin that it was in its
// marketplace.
func TestSupplement(t *testing.T) {
	skill := func(name string) string { return "---\nname: " + name + "\ndescription: D.\n---\nBody.\n" }
	market := tree(map[string]string{
		File: `{"name": "m", "plugins": [
			{"name": "office", "source": "./", "strict": false, "version": "2", "skills": ["./skills/xlsx", "./skills/docx"]},
			{"name": "art", "source": "./", "strict": false, "skills": ["./skills/art"]},
			{"name": "bare", "source": "./bare"},
			{"name": "own", "source": "./own"},
			{"name": "told", "source": "./own", "strict": false, "description": "Told."}]}`,
		"skills/xlsx/SKILL.md":           skill("xlsx"),
		"skills/docx/SKILL.md":           skill("docx"),
		"skills/art/SKILL.md":            skill("art"),
		"bare/skills/b/SKILL.md":         skill("b"),
		"own/.claude-plugin/plugin.json": `{"name": "own"}`,
		"own/skills/o/SKILL.md":          skill("o"),
	})
	m, err := Read(market)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"office": {"office/docx", "office/xlsx"}, "art": {"art/art"}, "bare": {"bare/b"}, "own": {"own/o"}, "told": {"told/o"}}
	for _, e := range m.Entries {
		installed := fstest.MapFS{}
		for name, file := range market {
			if rest, ok := strings.CutPrefix(name, strings.TrimPrefix(e.Folder+"/", "./")); ok {
				installed["p/"+rest] = file
			}
		}
		folder, _ := fs.Sub(market, e.Folder)
		if name, content := e.Supplement(folder); name != "" {
			installed["p/"+name] = &fstest.MapFile{Data: content}
		} else if e.Name != "own" {
			t.Errorf("%s needs no file", e.Name)
		}
		if diff := cmp.Diff(want[e.Name], skillsOf(t, installed)); diff != "" {
			t.Errorf("%s: %s", e.Name, diff)
		}
	}
}

func skillsOf(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	catalog, err := scan.Scan(context.Background(), []scan.Root{{Source: skills.SourceUser, FS: fsys, Label: "t", Plugins: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range catalog.Skills {
		names = append(names, s.QualifiedName())
	}
	slices.Sort(names)
	return names
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"name": "m", "plugins": [{"name": "p", "source": {"source": "github", "repo": "o/r"}}]}`, `{"plugins": [{"name": "p", "source": "./../x", "n": 1e999}]}`, `{"plugins": [{"name": "p", "source": null}]}`} {
		f.Add([]byte(seed))
	}
	fsys := tree(map[string]string{"a/x": ""})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(File, data, fsys)
		if err != nil {
			return
		}
		for _, e := range m.Entries {
			if e.Err == nil && (e.Folder == "") == (e.Source == source.Source{}) {
				t.Errorf("%+v has neither or both of folder and source", e)
			}
			if e.Folder != "" && !fs.ValidPath(e.Folder) {
				t.Errorf("the folder %q", e.Folder)
			}
		}
	})
}
