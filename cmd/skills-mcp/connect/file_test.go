package connect

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// only wants nothing else in a file's folder.
func only(t *testing.T, file string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("in the folder are %v", entries)
	}
}

func TestAddKeepsABackupAndTheMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	const before = "\ufeff{\"mcpServers\": {\"one\": {\"command\": \"one\"}}}\n"
	writeFile(t, file, before)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	result, err := mustFind(t, "cursor").Add(Target{File: file}, "skills", ours, nil)
	if err != nil || !result.Changed {
		t.Fatal(result, err)
	}
	if got := contents(t, result.Backup); got != before {
		t.Errorf("the backup is %q", got)
	}
	if !strings.HasPrefix(filepath.Base(result.Backup), "mcp.json.bak-") {
		t.Errorf("the backup is %s", result.Backup)
	}
	if got := contents(t, file); !strings.HasPrefix(got, "\ufeff{") || !strings.Contains(got, `"one"`) {
		t.Errorf("the file is %q", got)
	}
	for _, name := range []string{file, result.Backup} {
		if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	second, err := mustFind(t, "cursor").Add(Target{File: file}, "skills", ours, nil)
	if err != nil || second.Changed || second.Backup != "" {
		t.Errorf("the second time: %+v %v", second, err)
	}
}

func TestAddKeepsComments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	const before = "// mine\n{\n  \"theme\": \"dark\", // dark\n}\n"
	writeFile(t, file, before)
	result, err := mustFind(t, "zed").Add(Target{File: file}, "skills", ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, file); !strings.HasPrefix(got, strings.TrimSuffix(before, "}\n")) {
		t.Errorf("the file is %q", got)
	}
	if got := contents(t, result.Backup); got != before {
		t.Errorf("the backup is %q", got)
	}
}

// What the client or the person added to our entry is no difference.
func TestAddLeavesAdditions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"mcpServers": {"skills": {"command": "/usr/local/bin/skills-mcp", "args": ["serve", "--workspace", "/home/ann/shop"], "env": {"A": "1"}}}}`
	writeFile(t, file, text)
	result, err := mustFind(t, "windsurf").Add(Target{File: file}, "skills", ours, nil)
	if err != nil || result.Changed || contents(t, file) != text {
		t.Error(result, err, contents(t, file))
	}
}

func TestAnotherServerOfTheName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	const text = `{"mcpServers": {"skills": {"command": "npx", "args": ["skills"]}}}`
	writeFile(t, file, text)
	client := mustFind(t, "cursor")
	var different *DifferentError
	if _, err := client.Add(Target{File: file}, "skills", ours, nil); !errors.As(err, &different) || !strings.Contains(different.Text, `"npx"`) {
		t.Errorf("add: %v", err)
	}
	if _, err := client.Remove(Target{File: file}, "skills", ours, nil); !errors.As(err, &different) {
		t.Errorf("remove: %v", err)
	}
	if contents(t, file) != text {
		t.Error("the file was changed")
	}
	only(t, file)
	if result, err := client.Add(Target{File: file}, "skills", ours, &Options{Force: true}); err != nil || !result.Changed {
		t.Error(result, err)
	}
	// Ours in another folder and with other arguments is ours to remove.
	moved := Entry{Command: `C:\Programs\Skills-MCP.exe`}
	if result, err := client.Remove(Target{File: file}, "skills", moved, nil); err != nil || !result.Changed {
		t.Error(result, err)
	}
	if result, err := client.Remove(Target{File: file}, "skills", ours, nil); err != nil || result.Changed {
		t.Error(result, err)
	}
}

func TestMissingFile(t *testing.T) {
	dir := t.TempDir()
	target := Target{File: filepath.Join(dir, "client", "mcp.json"), Folder: filepath.Join(dir, "client")}
	client := mustFind(t, "cursor")
	if result, err := client.Remove(target, "skills", ours, nil); err != nil || result.Changed {
		t.Error(result, err)
	}
	if _, err := client.Add(target, "skills", ours, nil); err == nil || !strings.Contains(err.Error(), "seems not to be installed") {
		t.Error(err)
	}
	if _, err := os.Stat(target.Folder); err == nil {
		t.Error("the folder was made")
	}
	result, err := client.Add(target, "skills", ours, &Options{Force: true})
	if err != nil || !result.Changed || result.Backup != "" {
		t.Error(result, err)
	}
	only(t, target.File)
	project := Target{File: filepath.Join(dir, "project", ".cursor", "mcp.json")}
	if _, err := client.Add(project, "skills", ours, nil); err != nil {
		t.Error(err)
	}
}

func TestLinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	writeFile(t, real, "{}")
	if err := os.Symlink("real.json", link); err != nil {
		t.Skipf("SKIPPED: no links here: %v", err)
	}
	client := mustFind(t, "cursor")
	if _, err := client.Add(Target{File: link}, "skills", ours, nil); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "real.json" || !strings.Contains(contents(t, real), "skills-mcp") {
		t.Error(to, err, contents(t, real))
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Add(Target{File: link}, "skills", ours, nil); err == nil || !strings.Contains(err.Error(), "a link to a file that is not there") {
		t.Error(err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, file, "{}")
	if err := os.Chmod(file, 0o444); err != nil {
		t.Fatal(err)
	}
	_, err := mustFind(t, "cursor").Add(Target{File: file}, "skills", ours, nil)
	if err == nil || !strings.Contains(err.Error(), "is read-only") {
		t.Error(err)
	}
	only(t, file)
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := mustFind(t, "cursor").Add(Target{File: dir}, "skills", ours, nil); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Error(err)
	}
	large := filepath.Join(dir, "large.json")
	writeFile(t, large, "{}")
	if err := os.Truncate(large, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := mustFind(t, "cursor").Add(Target{File: large}, "skills", ours, nil); err == nil || !strings.Contains(err.Error(), "larger than 32 MiB") {
		t.Error(err)
	}
}

// What somebody else writes meanwhile stays.
func TestChangedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, path, "{}")
	client := mustFind(t, "cursor")
	add := func(_ *file, data []byte, _ any) ([]byte, error) {
		writeFile(t, path, `{"theirs": 1}`)
		return client.format.set(data, "skills", client.fields(ours))
	}
	if _, err := client.edit(Target{File: path}, "skills", client.fields(ours).is, add); !errors.Is(err, errMeanwhile) {
		t.Error(err)
	}
	if got := contents(t, path); got != `{"theirs": 1}` {
		t.Errorf("the file is %q", got)
	}
	only(t, path)
}

// What somebody did to the file since stays, comments too.
func TestRemoveKeepsWhatCameSince(t *testing.T) {
	for name, c := range map[string]struct{ before, old, new string }{
		"cursor": {"{\n  \"a\": 1\n}\n", "\"a\": 1", "\"a\": 1 /* mine */"},
		"codex":  {"a = 1", "a = 1", "a = 1 # mine"},
	} {
		target := Target{File: filepath.Join(t.TempDir(), "config")}
		writeFile(t, target.File, c.before)
		client := mustFind(t, name)
		if _, err := client.Add(target, "skills", ours, nil); err != nil {
			t.Fatal(err)
		}
		writeFile(t, target.File, strings.Replace(contents(t, target.File), c.old, c.new, 1))
		if _, err := client.Remove(target, "skills", ours, nil); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, target.File); !strings.Contains(got, c.new) || strings.Contains(got, ours.Command) {
			t.Errorf("%s: the file is %q", name, got)
		}
	}
}

// The server whose place was taken does not come back.
func TestRemoveAfterForce(t *testing.T) {
	target := Target{File: filepath.Join(t.TempDir(), "mcp.json")}
	writeFile(t, target.File, `{"mcpServers":{"skills":{"command":"x"}}}`)
	client := mustFind(t, "cursor")
	if _, err := client.Add(target, "skills", ours, &Options{Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Remove(target, "skills", ours, nil); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, target.File); got != `{"mcpServers":{}}` {
		t.Errorf("the file is %s", got)
	}
}
