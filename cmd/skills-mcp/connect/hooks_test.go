package connect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

const program = "/opt/my hook tools/skills-mcp"

func ourHook(event, matcher, id string) Hook {
	return Hook{Event: event, Matcher: matcher, Type: "command", Command: "'" + program + "' hook 'team' '" + id + "'", Timeout: 65}
}

// The files of testdata/hooks are a person's before, and with our two hooks. Taking them out
// gives the first again.
func TestEditHooks(t *testing.T) {
	t.Parallel()
	wanted := []Hook{ourHook("PreToolUse", "Bash", "pretooluse-1"), ourHook("PreToolUse", "", "pretooluse-2"), ourHook("Stop", "", "stop-1")}
	files, err := filepath.Glob("testdata/hooks/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		archive := txtar.Parse(data)
		before := archive.Files[0].Data
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		apply := func(hooks []Hook, added, removed int) string {
			t.Helper()
			r, err := Client{}.EditHooks(Target{File: path}, program, hooks, &Options{})
			if err != nil || r.Changed != (added+removed > 0) || len(r.Added) != added || len(r.Removed) != removed {
				t.Fatalf("%s: %+v, %v", name, r, err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		with := apply(wanted, 3, 0)
		if os.Getenv("UPDATE") != "" {
			archive.Files = []txtar.File{archive.Files[0], {Name: "with", Data: []byte(with)}}
			if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if with != string(archive.Files[1].Data) {
			t.Errorf("%s:\n%s", name, with)
		}
		if again := apply(wanted, 0, 0); again != with {
			t.Errorf("%s: twice is not once:\n%s", name, again)
		}
		changed := slices.Clone(wanted)
		changed[0] = ourHook("PreToolUse", "Bash", "pretooluse-3")
		if text := apply(changed, 1, 1); strings.Contains(text, "pretooluse-1") || !strings.Contains(text, "pretooluse-3") {
			t.Errorf("%s: the changed hook:\n%s", name, text)
		}
		gone := apply(nil, 0, 3)
		was, err1 := jsonFormat{}.tree(before)
		is, err2 := jsonFormat{}.tree([]byte(gone))
		if hooks, ok := is["hooks"].(map[string]any); ok && len(hooks) == 0 && was["hooks"] == nil {
			delete(is, "hooks")
		}
		if err1 != nil || err2 != nil || !reflect.DeepEqual(was, is) {
			t.Errorf("%s: removed:\n%s", name, gone)
		}
	}
}

func TestOtherHooks(t *testing.T) {
	t.Parallel()
	for command, ours := range map[string]bool{
		`/usr/bin/skills-mcp hook a b`:                 true,
		`'/it'\''s a hook /skills-mcp' hook --x y a b`: true,
		`"C:\Program Files\skills-mcp.exe" hook a b`:   true,
		`/usr/bin/skills-mcp run a`:                    false,
		`/usr/bin/other hook a b`:                      false,
		`echo skills-mcp hook a b`:                     false,
		`/usr/bin/skills-mcp-hook hook a b`:            false,
	} {
		data := []byte(`{"hooks": [{"type": "command", "command": ` + encode(command, "", "") + `}]}`)
		if _, mine := withoutHooks("Stop", []json.RawMessage{data}, program); (len(mine) == 1) != ours {
			t.Errorf("%s: %v", command, mine)
		}
	}
}

func TestWrongHooks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.json")
	for data, want := range map[string]string{
		"{\n\"hooks\": []}":                                `"hooks" is not a map`,
		"{\n\"hooks\": {\n\"PreToolUse\": {}}}":            `its hooks are not in the format of Claude Code`,
		"{\"hooks\": {}, \"hooks\": {}}":                   `"hooks" is there a second time`,
		"{\"hooks\": {\"PreToolUse\": [], PreToolUse: []}": `line 1, column`,
	} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (Client{}).EditHooks(Target{File: path}, program, []Hook{ourHook("PreToolUse", "", "x")}, &Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestEnabledPlugins(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	places := Places{ClaudeConfig: home}
	if got := EnabledPlugins(places); got != nil {
		t.Error(got)
	}
	if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(`{"enabledPlugins": {"a@m": true, "b@m": false}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := EnabledPlugins(places); got["a@m"] != true || got["b@m"] != false {
		t.Error(got)
	}
}
