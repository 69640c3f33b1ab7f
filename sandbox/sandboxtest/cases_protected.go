package sandboxtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// protectedFiles are a workspace's, with something at each protected path.
func protectedFiles() map[string]string {
	return map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", ".git/hooks/pre-commit": "true\n", ".git/modules/a/config": "[core]\n",
		".mcp.json": "{}\n", ".claude/settings.json": "{}\n", ".vscode/tasks.json": "{}\n", ".idea/workspace.xml": "<a/>\n",
		".envrc": "true\n", ".github/workflows/ci.yml": "on: push\n", ".skills-mcp.yaml": "{}\n",
		".github/CODEOWNERS": "*\n", "src/main.c": "int main;\n",
	}
}

// protected makes commands break into the protected paths of writable workspaces.
func (s suite) protected(t *testing.T) {
	open := func(t *testing.T, files map[string]string) string {
		dir := Folder(t, files)
		must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			return firstError(err, os.Chmod(path, 0o777)) // the command may run as nobody
		}))
		return dir
	}
	python := func(script string, args ...string) sandbox.Command {
		return sandbox.Command{Argv: append([]string{"python3", "-c", script}, args...), Limits: sandbox.Limits{Timeout: 5 * time.Minute}}
	}
	// run runs commands at once with a driver that is closed then.
	run := func(t *testing.T, want string, commands ...sandbox.Command) {
		t.Helper()
		t.Run("", func(t *testing.T) {
			start := s.start(t)
			var all sync.WaitGroup
			for _, cmd := range commands {
				cmd.Folder = Folder(t, nil)
				cmd.Warm = -1
				all.Go(func() {
					r, err := start(t.Context(), cmd)
					if err != nil {
						t.Errorf("run: %v", err)
					} else {
						wantStdout(t, r, want)
					}
				})
			}
			all.Wait()
		})
	}
	left := map[string]string{"result": "evil", "src": "folder", "src/.vscode-like": "folder"}
	t.Run("two workspaces at once", func(t *testing.T) {
		full, empty := open(t, protectedFiles()), open(t, nil)
		wantFull, wantEmpty := listing(t, full), listing(t, empty)
		for name, content := range left {
			wantFull[name], wantEmpty[name] = content, content
		}
		cmd := python(embedded("protected.py"), full, empty, sandbox.WorkspaceDir)
		cmd.Grant = sandbox.Grant{Workspaces: []string{full, empty}, Write: true}
		other := python(embedded("protected.py"), sandbox.WorkspaceDir, empty)
		other.Grant = sandbox.Grant{Workspaces: []string{empty}, Write: true}
		run(t, "tried\n", cmd, other, other)
		sameListing(t, full, wantFull)
		sameListing(t, empty, wantEmpty)
	})
	t.Run("granted by name", func(t *testing.T) {
		dir := open(t, map[string]string{".vscode/tasks.json": "{}\n"})
		cmd := python(`
import os
os.rename('.vscode', 'moved'); os.mkdir('.vscode')
for path in ['.vscode/tasks.json', '.envrc', '.mcp.json', '.idea/x']:
    try:
        os.makedirs(os.path.dirname(path) or '.', exist_ok=True); open(path, 'w').write('mine')
    except OSError:
        print(path)
`)
		cmd.Argv = []string{"bash", "-c", `cd "$1" && exec python3 -c "$2"`, "case", dir, cmd.Argv[2]}
		cmd.Grant = sandbox.Grant{Workspaces: []string{dir}, Write: true, Unprotected: []string{".vscode", ".envrc"}}
		run(t, ".mcp.json\n.idea/x\n", cmd)
		sameListing(t, dir, map[string]string{".vscode": "folder", ".vscode/tasks.json": "mine", ".envrc": "mine", "moved": "folder", "moved/tasks.json": "{}\n"})
	})
	t.Run("a .git file", func(t *testing.T) {
		dir := open(t, map[string]string{".git": "gitdir: ./.bare/x\n", ".bare/x/config": "[core]\n", ".bare/y": ""})
		want := listing(t, dir)
		cmd := python(`
import os, sys
os.chdir(sys.argv[1])
for what in [lambda: os.rename('.bare', 'b'), lambda: os.rename('.bare/x', 'b'), lambda: open('.bare/x/config', 'w'), lambda: open('.bare/x/hooks', 'w'), lambda: os.unlink('.git')]:
    try:
        what(); print('worked')
    except OSError:
        pass
`, dir)
		cmd.Grant = sandbox.Grant{Workspaces: []string{dir}, Write: true}
		run(t, "", cmd)
		sameListing(t, dir, want)
	})
	t.Run("that cannot be protected", func(t *testing.T) {
		linked, outer := open(t, nil), open(t, map[string]string{"a/inner/file": ""})
		must(t, os.Symlink("/etc", filepath.Join(linked, ".claude")))
		for name, workspaces := range map[string][]string{".claude": {linked}, "is in workspace": {outer, filepath.Join(outer, "a/inner")}} {
			want := listing(t, workspaces[0])
			t.Run(name, func(t *testing.T) {
				cmd := bash(`echo ran`)
				cmd.Grant = sandbox.Grant{Workspaces: workspaces, Write: true}
				if r, err := s.start(t)(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("error %v, want one about %q; ran: %v", err, name, r)
				}
			})
			sameListing(t, workspaces[0], want)
		}
	})
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// listing returns the content of each file below a folder, by path, and "folder" for each
// folder.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case entry.IsDir():
			all[name] = "folder"
		case entry.Type()&fs.ModeSymlink != 0:
			all[name], _ = os.Readlink(path)
		default:
			text, err := os.ReadFile(path)
			all[name] = string(text)
			return err
		}
		return nil
	}))
	return all
}

func sameListing(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := listing(t, dir)
	var different []string
	for name, content := range got {
		if was, there := want[name]; !there || was != content {
			different = append(different, fmt.Sprintf("%s is %q", name, content))
		}
	}
	for name := range want {
		if _, there := got[name]; !there {
			different = append(different, name+" is not there")
		}
	}
	slices.Sort(different)
	if len(different) > 0 {
		t.Errorf("in %s:\n%s", dir, strings.Join(different, "\n"))
	}
}
