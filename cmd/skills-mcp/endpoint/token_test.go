package endpoint

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
)

// A token file is read where neither skills nor other users can.
func TestTokenFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are others there")
	}
	top := t.TempDir()
	const secret = "0123456789abcdef"
	write := func(name string, mode os.FileMode) {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil { // for any umask
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		if err := os.Symlink(filepath.Join(top, target), filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("own/token", 0o600)
	write("own/read-only", 0o400)
	write("own/readable", 0o644)
	write("own/writable", 0o602)
	write("own/group", 0o620)
	write("work/sub/token", 0o600)
	write("skills/demo/token", 0o600)
	write("work-not/token", 0o600)
	link("own/token", "work/link")       // a skill could put another there
	link("work/sub/token", "own/link")   // the file is the skill's to read
	link("work", "alias")                // another name of the workspace
	link("skills/demo", "own/of-skills") // likewise
	reader := &TokenReader{workspaces: []string{filepath.Join(top, "work")}, roots: []string{filepath.Join(top, "skills")}}
	for name, want := range map[string]string{
		"own/token":           "",
		"own/read-only":       "",
		"work-not/token":      "",
		"own/readable":        "has the mode 0644, so other users read or write it; run: chmod 600 ",
		"own/writable":        "has the mode 0602",
		"own/group":           "has the mode 0620",
		"work/sub/token":      "is in the workspace " + reader.workspaces[0],
		"work/link":           "is in the workspace",
		"own/link":            "is in the workspace",
		"alias/sub/token":     "is in the workspace",
		"skills/demo/token":   "is in " + reader.roots[0] + ", where skills are found",
		"own/of-skills/token": "where skills are found",
		"own":                 "is a directory",
		"own/none":            "no such file",
	} {
		got, err := reader.Token(config.Serve{TokenFile: filepath.Join(top, name), Listen: config.DefaultListen}, false)
		switch {
		case want == "" && (err != nil || got.Text != secret || got.Made):
			t.Errorf("%s: %+v, %v", name, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}

// Servers that start at once make one token, which the next ones use. A file that others
// may have read, or that is no whole token, is refused with its remedy.
func TestMadeToken(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are others there")
	}
	t.Setenv(TokenVariable, "")
	file := filepath.Join(t.TempDir(), "state", "http-token")
	reader, serve := &TokenReader{made: file}, config.Serve{Listen: config.DefaultListen}
	var all sync.WaitGroup
	made := make([]BearerToken, 8)
	for i := range made {
		all.Go(func() {
			var err error
			if made[i], err = reader.Token(serve, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, one := range append(made, tokenOf(t, reader, serve)) {
		if one != made[0] || len(one.Text) < 26 || one.From != file || !one.Made {
			t.Errorf("%+v, and %+v", one, made[0])
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	whole := made[0].Text + "\n"
	elsewhere := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(elsewhere, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, damage := range map[string]func() error{
		"has the mode 0640, so others may": func() error { return os.Chmod(file, 0o640) },
		"has the mode 0604":                func() error { return os.Chmod(file, 0o604) },
		"hold a whole token; remove it":    func() error { return os.Truncate(file, 0) },
		"not hold a whole token":           func() error { return os.Truncate(file, 20) },
		"is no regular file": func() error {
			return errors.Join(os.Remove(file), os.Symlink(elsewhere, file))
		},
		"no regular file; remove it": func() error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
	} {
		if err := errors.Join(os.RemoveAll(file), os.WriteFile(file, []byte(whole), 0o600), damage()); err != nil {
			t.Fatal(err)
		}
		if got, err := reader.Token(serve, false); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "connect its clients again") {
			t.Errorf("%s: %+v, %v", want, got, err)
		}
	}
}

func tokenOf(t *testing.T, reader *TokenReader, serve config.Serve) BearerToken {
	t.Helper()
	token, err := reader.Token(serve, false)
	if err != nil {
		t.Error(err)
	}
	return token
}

// The token is made in no workspace, not even through a link; a configured one comes
// first, and nothing is made where other machines connect or no token is asked for.
func TestMadeTokenElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are others there")
	}
	t.Setenv(TokenVariable, "")
	top := t.TempDir()
	for _, name := range []string{"work/inner", "other"} {
		if err := os.MkdirAll(filepath.Join(top, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "work", "inner"), filepath.Join(top, "linked")); err != nil {
		t.Fatal(err)
	}
	reader := func(made string) *TokenReader {
		return &TokenReader{workspaces: []string{filepath.Join(top, "other"), filepath.Join(top, "work")}, made: filepath.Join(top, made, "skills-mcp", "http-token")}
	}
	loopback := config.Serve{Listen: "[::1]:0"}
	for _, made := range []string{"work", "linked"} {
		if got, err := reader(made).Token(loopback, false); err == nil || !strings.Contains(err.Error(), "is in the workspace") || !strings.Contains(err.Error(), "XDG_STATE_HOME") {
			t.Errorf("%s: %+v, %v", made, got, err)
		}
	}
	for name, test := range map[string]struct {
		serve config.Serve
		want  string
	}{
		"other machines": {config.Serve{Listen: "0.0.0.0:1"}, "other machines can reach 0.0.0.0:1"},
		"every address":  {config.Serve{Listen: ":1"}, "other machines can reach"},
		"none":           {config.Serve{Listen: "127.0.0.1:1", NoToken: true}, ""},
		"none elsewhere": {config.Serve{Listen: "0.0.0.0:1", NoToken: true}, ""},
	} {
		got, err := reader("state").Token(test.serve, false)
		if got != (BearerToken{}) || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := reader("state").Token(config.Serve{Listen: "0.0.0.0:1"}, true); err != nil || got != (BearerToken{}) {
		t.Errorf("with named tokens: %+v, %v", got, err)
	}
	t.Setenv(TokenVariable, "0123456789abcdef")
	if got, err := reader("state").Token(loopback, false); err != nil || got.Text != "0123456789abcdef" || got.From != TokenVariable || got.Made {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := reader("state").Token(config.Serve{Listen: "127.0.0.1:1", NoToken: true}, false); err == nil {
		t.Error("a token, and none")
	}
	if left, _ := filepath.Glob(filepath.Join(top, "*", "skills-mcp")); left != nil {
		t.Errorf("made %s", left)
	}
}
