package setup

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A home folder, a project in it and links to both, in a folder that is not the
// temporary one.
func TestWorkspacesAmong(t *testing.T) {
	top := skillfs.Resolved(t.TempDir())
	at := func(path ...string) string { return filepath.Join(append([]string{top}, path...)...) }
	for _, dir := range []string{at("real", "ann", "shop", "part"), at("real", "ann", "app"), at("tmp", "plain"), at("tmp", "project", ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("real", "ann", "notes"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"home": "real", "me": "real/ann", "work": "real/ann/shop", "system": "/etc", "top": "/"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", at("tmp"))
	w := &Workspaces{home: at("home", "ann"), logger: slog.New(slog.DiscardHandler)}
	shop, app := at("real", "ann", "shop"), at("real", "ann", "app")
	for name, test := range map[string]struct{ roots, want []string }{
		"one":                    {[]string{at("home", "ann", "shop")}, []string{shop}},
		"in their order":         {[]string{shop, app}, []string{shop, app}},
		"by a link":              {[]string{at("work")}, []string{shop}},
		"twice":                  {[]string{shop, at("work")}, []string{shop}},
		"one in another":         {[]string{filepath.Join(shop, "part"), app, at("work")}, []string{app, shop}},
		"the home folder":        {[]string{at("home", "ann")}, nil},
		"by its real name":       {[]string{at("real", "ann")}, nil},
		"by another link":        {[]string{at("me")}, nil},
		"above it":               {[]string{at("home"), at("real"), top, "/"}, nil},
		"the system's":           {[]string{"/etc", "/usr/share", at("system"), at("top")}, nil},
		"temporary":              {[]string{at("tmp"), at("tmp", "plain")}, nil},
		"a project, temporary":   {[]string{at("tmp", "project")}, []string{at("tmp", "project")}},
		"a file":                 {[]string{at("real", "ann", "notes")}, nil},
		"nothing":                {[]string{at("gone")}, nil},
		"one of several is good": {[]string{"/", at("gone"), app}, []string{app}},
	} {
		if diff := cmp.Diff(test.want, w.Among(test.roots)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The home folder of some systems is by its real name where nothing else would be
// a workspace, such as in /var.
func TestWorkspaceInHomeElsewhere(t *testing.T) {
	top := skillfs.Resolved(t.TempDir())
	home, elsewhere := filepath.Join(top, "home"), filepath.Join(top, "var")
	if err := os.MkdirAll(filepath.Join(elsewhere, "ann", "shop"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("var", home); err != nil {
		t.Fatal(err)
	}
	for root, ok := range map[string]bool{
		filepath.Join(home, "ann", "shop"): true,
		filepath.Join(home, "ann"):         false,
		filepath.Join(elsewhere, "ann"):    false,
		home:                               false,
	} {
		if _, err := workspaceAt(root, filepath.Join(home, "ann"), elsewhere); (err == nil) != ok {
			t.Errorf("%s: %v", root, err)
		}
	}
	if _, err := workspaceAt("/etc", "/", "/nowhere"); err == nil {
		t.Error("a home folder that is / makes the system's a workspace")
	}
}

func TestProjectIsBounded(t *testing.T) {
	dir := t.TempDir()
	text := append([]byte("skills: []\n#"), bytes.Repeat([]byte("x"), maxProject)...)
	for size, want := range map[int]error{maxProject: nil, maxProject + 1: skillfs.ErrTooLarge} {
		if err := os.WriteFile(filepath.Join(dir, config.ProjectFile), text[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		w := &Workspaces{Folders: []string{dir}}
		if err := w.loadProject(); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
	}
}
