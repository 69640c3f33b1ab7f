package integration

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/adopt"
	"github.com/skillsmcp/skills-mcp/skills/install/clawhub"
	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/files"
	"github.com/skillsmcp/skills-mcp/skills/install/git"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/install/wellknown"
)

// updateAdoption writes archives of the folders that the tools have made to the testdata
// of package adopt, where they are read without the tools.
var updateAdoption = flag.Bool("update-adoption", false, "write skills/install/adopt/testdata")

// TestAdoptRealTools lets the skills tool and clawhub install from servers of this test,
// adopts all of it, verifies it, and installs each entry again from its source. gh and
// ToolHive cannot run here: their folders and files are made after their sources.
func TestAdoptRealTools(t *testing.T) {
	t.Parallel()
	o := newAdoptionOrigin(t)
	home, project := t.TempDir(), t.TempDir()
	o.home = home
	o.install(project)
	o.installAs(project)
	if *updateAdoption {
		o.keep(project, "project")
		o.keep(home, "home")
	}
	for _, place := range []struct {
		name, dir string
		entries   int // that have been installed
	}{{"project", project, 6}, {"home", home, 2}} {
		t.Run(place.name, func(t *testing.T) {
			before := treeOf(t, place.dir)
			found, err := adopt.Find(t.Context(), adopt.Options{Dir: place.dir, Home: place.name == "home"})
			if err != nil || len(found) != place.entries {
				t.Errorf("found %d of %d entries: %v", len(found), place.entries, err)
			}
			i := o.installer(place.dir)
			o.adopt(t, i, found)
			if changed, err := i.Verify(t.Context()); err != nil || len(changed) > 0 {
				t.Errorf("verify: %v, %v", changed, err)
			}
			for name, content := range before {
				if now, err := os.ReadFile(filepath.Join(place.dir, name)); err == nil && string(now) != content {
					t.Errorf("adoption changed %s", name)
				}
			}
			for _, c := range found {
				o.again(t, i, place.dir, c)
			}
		})
	}
}

// An adoptionOrigin serves skills to tools: a Git repository, a discovery index and a
// ClawHub registry.
type adoptionOrigin struct {
	t                     *testing.T
	tools, dir, home, url string
	tree                  string
}

func newAdoptionOrigin(t *testing.T) *adoptionOrigin {
	o := &adoptionOrigin{t: t, tools: lab.NodeTools(t), dir: t.TempDir()}
	_, err := os.Stat(filepath.Join(o.tools, "clawhub"))
	lab.Requires(t, "SKILLS_MCP_REQUIRE_TOOLS", err)
	o.home = o.dir
	for _, name := range []string{"report", "chart", "stamped", "packed"} {
		writeSkill(t, filepath.Join(o.dir, "skills", name), name)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "."}, {"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "skills"},
		{"clone", "-q", "--bare", ".", "repo.git"},
	} {
		o.git(args...)
	}
	o.tree = o.git("rev-parse", "HEAD:skills/stamped")
	server := httptest.NewServer(o.handler())
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

// writeSkill writes a skill whose files sort otherwise by bytes than by localeCompare.
func writeSkill(t *testing.T, dir, name string) {
	for file, content := range map[string]string{
		"SKILL.md":          "---\nname: " + name + "\ndescription: Makes reports of files. Use it when a report is wanted.\n---\n# " + name + "\n\nRun scripts/run.sh.\n",
		"scripts/run.sh":    "#!/bin/sh\necho hello\n",
		"references/a-b.md": "1\n", "references/a_b.md": "2\n", "references/ab.md": "3\n", "references/B.md": "4\n",
	} {
		writeAt(t, filepath.Join(dir, filepath.FromSlash(file)), content)
	}
	if err := os.Chmod(filepath.Join(dir, "scripts", "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func writeAt(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (o *adoptionOrigin) git(args ...string) string {
	o.t.Helper()
	return o.run(o.dir, "git", args...)
}

// run runs a program with a home of its own.
func (o *adoptionOrigin) run(dir, program string, args ...string) string {
	o.t.Helper()
	cmd := exec.CommandContext(o.t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + o.home, "PATH=" + o.tools + string(filepath.ListSeparator) + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1", "CI=1", "CLAWHUB_REGISTRY=" + o.url, "CLAWHUB_DISABLE_TELEMETRY=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		o.t.Fatalf("%s %s: %v\n%s", program, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// handler serves the published shapes.
func (o *adoptionOrigin) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/team/", &cgi.Handler{
		Root: "/team",
		Path: filepath.Join(o.git("--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + o.dir, "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"},
		Stderr: io.Discard, Logger: log.New(io.Discard, "", 0),
	})
	md, _ := os.ReadFile(filepath.Join(o.dir, "skills", "chart", "SKILL.md"))
	md = bytes.ReplaceAll(md, []byte("chart"), []byte("listed"))
	mux.HandleFunc("/.well-known/agent-skills/index.json", serveJSON(map[string]any{
		"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
		"skills": []any{map[string]any{"name": "listed", "type": "skill-md", "description": "Makes reports of files. Use it when a report is wanted.",
			"url": "listed/SKILL.md", "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(md))}},
	}))
	mux.HandleFunc("/.well-known/agent-skills/listed/SKILL.md", func(w http.ResponseWriter, _ *http.Request) { w.Write(md) })
	mux.HandleFunc("/.well-known/clawhub.json", func(w http.ResponseWriter, _ *http.Request) {
		serveJSON(map[string]any{"apiBase": o.url})(w, nil)
	})
	mux.HandleFunc("/api/v1/skills/packed", serveJSON(map[string]any{
		"skill":         map[string]any{"slug": "packed", "displayName": "Packed", "tags": map[string]any{}, "stats": map[string]any{}, "createdAt": 1, "updatedAt": 1},
		"latestVersion": map[string]any{"version": "1.2.0", "createdAt": 1, "changelog": ""},
		"owner":         map[string]any{"handle": "ann"}, "moderation": nil,
	}))
	mux.HandleFunc("/api/v1/skills/packed/install", serveJSON(map[string]any{"ok": true, "installKind": "archive", "archive": map[string]any{"version": "1.2.0"}}))
	packed := listFiles(o.t, filepath.Join(o.dir, "skills", "packed"))
	mux.HandleFunc("/api/v1/skills/packed/versions/1.2.0", serveJSON(map[string]any{
		"skill": map[string]any{"slug": "packed", "displayName": "Packed"}, "version": map[string]any{"version": "1.2.0", "createdAt": 1, "changelog": "", "files": packed},
	}))
	mux.HandleFunc("/api/v1/download", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		z := zip.NewWriter(w)
		err := z.AddFS(os.DirFS(filepath.Join(o.dir, "skills", "packed")))
		if meta, merr := z.Create("_meta.json"); merr == nil && err == nil {
			_, err = meta.Write([]byte(`{"slug":"packed","version":"1.2.0"}`))
		}
		if err != nil || z.Close() != nil {
			panic(http.ErrAbortHandler)
		}
	})
	return mux
}

// listFiles returns the files of a folder as ClawHub lists them.
func listFiles(t *testing.T, dir string) (all []map[string]any) {
	for name, content := range treeOf(t, dir) {
		all = append(all, map[string]any{"path": name, "size": len(content), "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(content)))})
	}
	return all
}

func serveJSON(body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body)
	}
}

// install runs the real tools.
func (o *adoptionOrigin) install(project string) {
	writeSkill(o.t, filepath.Join(project, "own", "local"), "local")
	for _, args := range [][]string{
		{"add", "./own", "--skill", "local", "-y", "--agent", "claude-code", "cursor"},
		{"add", o.url + "/team/repo.git", "--skill", "report", "-y", "--agent", "claude-code", "cursor"},
		{"add", o.url + "/team/repo.git", "--skill", "chart", "-y", "--copy", "--agent", "claude-code"},
		{"add", o.url, "--skill", "listed", "-y", "--agent", "claude-code", "cursor"},
		{"add", o.url + "/team/repo.git", "--skill", "report", "-g", "-y", "--agent", "claude-code", "cursor"},
		{"add", filepath.Join(o.dir, "skills"), "--skill", "packed", "-g", "-y", "--agent", "claude-code", "cursor"},
	} {
		o.run(project, filepath.Join(o.tools, "skills"), args...)
	}
	o.run(project, filepath.Join(o.tools, "clawhub"), "--no-input", "install", "packed")
}

// installAs writes what gh would have.
func (o *adoptionOrigin) installAs(project string) {
	stamped := filepath.Join(project, ".github", "skills", "stamped")
	writeSkill(o.t, stamped, "stamped")
	writeAt(o.t, filepath.Join(stamped, "SKILL.md"), `---
description: Makes reports of files. Use it when a report is wanted.
metadata:
    github-path: skills/stamped
    github-ref: refs/heads/main
    github-repo: `+o.url+`/team/repo.git
    github-tree-sha: `+o.tree+`
name: stamped
---
# stamped

Run scripts/run.sh.
`)
}

// keep writes the skills and lock files of a folder to testdata, with another server: as
// a tar archive, which has their modes, and which no scan of this repository reads.
func (o *adoptionOrigin) keep(dir, name string) {
	o.t.Helper()
	var archive bytes.Buffer
	to := tar.NewWriter(&archive)
	all := treeOf(o.t, dir)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if !strings.Contains(file, "skill") && !strings.HasSuffix(file, "lock.json") && !strings.HasSuffix(file, "lock.yaml") {
			continue
		}
		content := strings.NewReplacer(o.url, "https://skills.example.com", o.dir, "/home/ann").Replace(all[file])
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file)))
		if err == nil {
			err = to.WriteHeader(&tar.Header{Name: file, Mode: int64(info.Mode().Perm()), Size: int64(len(content))})
		}
		if err == nil {
			_, err = io.WriteString(to, content)
		}
		if err != nil {
			o.t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		o.t.Fatal(err)
	}
	writeAt(o.t, filepath.Join("..", "skills", "install", "adopt", "testdata", name+".tar"), archive.String())
}

// installer returns the installer of a folder, with all fetchers that the sources need.
func (o *adoptionOrigin) installer(dir string) *install.Installer {
	client := download.New(nil)
	local := files.New(client)
	agents := filepath.Join(dir, ".agents")
	return install.New(install.Target{Dir: dir, Skills: filepath.Join(agents, "skills"), Plugins: filepath.Join(agents, "plugins"), State: filepath.Join(agents, ".skills-mcp")}, &install.Options{
		Fetchers: map[source.Kind]install.Fetcher{
			source.Folder: local, source.Index: wellknown.New(client), source.ClawHub: clawhub.New(client, nil),
			source.Git: git.New(&git.Options{Env: []string{"HOME=" + o.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}}),
		},
	})
}

// adopt adopts all candidates, and fails for each that cannot be.
func (o *adoptionOrigin) adopt(t *testing.T, i *install.Installer, found []*adopt.Candidate) {
	t.Helper()
	states := map[string]*lock.State{}
	for _, c := range found {
		if c.State == nil {
			t.Errorf("%s of %s is not adopted: %s", c.Name, c.Tool, c.Reason)
			continue
		}
		if len(c.State.Checked) == 0 && c.Tool != adopt.GitHub { // which rewrites SKILL.md
			t.Errorf("%s of %s: no recorded hash holds: %q", c.Name, c.Tool, c.State.Unproved)
		}
		// ToolHive names no server of this machine.
		c.State.Source.Location = strings.Replace(c.State.Source.Location, "https://github.com/example/", o.url+"/team/", 1)
		states[c.Path] = c.State
	}
	if err := i.Adopt(t.Context(), states); err != nil {
		t.Fatal(err)
	}
}

// again removes an entry's folder, installs it from its source, and logs how it differs.
func (o *adoptionOrigin) again(t *testing.T, i *install.Installer, dir string, c *adopt.Candidate) {
	if c.State == nil {
		return
	}
	live := filepath.Join(dir, filepath.FromSlash(c.Path))
	before, aside := treeOf(t, live), filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(live, aside); err != nil {
		t.Fatal(err)
	}
	result := "the same bytes"
	if err := reinstall(t.Context(), i); err != nil {
		result = "not installed again: " + err.Error()
		if err := errors.Join(os.RemoveAll(live), os.Rename(aside, live)); err != nil {
			t.Fatal(err)
		}
	} else if !maps.Equal(before, treeOf(t, live)) {
		t.Errorf("%s was installed again with other bytes", c.Path)
	}
	t.Logf("%-9s %-28s proved %-42q again: %s", c.Tool, c.Path, c.State.Checked, result)
	// gh and clawhub add to the files that they install: the source has others.
	adds := c.Tool == adopt.GitHub || c.Tool == adopt.ClawHub
	if adds != strings.Contains(result, "the lock says") || !adds && result != "the same bytes" {
		t.Errorf("%s: %s", c.Path, result)
	}
}

func reinstall(ctx context.Context, i *install.Installer) error {
	plan, err := i.Locked(ctx, nil)
	if err != nil {
		return err
	}
	defer plan.Close()
	return plan.Commit(ctx)
}

// treeOf returns the contents of the files below a folder.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
