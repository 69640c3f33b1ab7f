package diagnosis

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills/watch"
)

func TestWatchFinding(t *testing.T) {
	limit := fmt.Errorf("%w: no space", watch.ErrLimit)
	for name, test := range map[string]struct {
		gaps   []watch.Gap
		level  sandbox.Level
		detail string
		remedy string
	}{
		"none":       {nil, sandbox.LevelOK, "at once", ""},
		"limit":      {[]watch.Gap{{Path: "/a", Err: limit}, {Path: "/b", Err: limit}}, sandbox.LevelWarning, "late in 2 folders", "sysctl fs.inotify.max_user_watches="},
		"folders":    {[]watch.Gap{{Path: "/a", Err: watch.ErrFolders}}, sandbox.LevelWarning, "not noticed in /a", "scan.folders"},
		"permission": {[]watch.Gap{{Path: "/a", Err: limit}, {Path: "/b", Err: fs.ErrPermission}}, sandbox.LevelWarning, "not noticed in /b", "reload_skills"},
	} {
		t.Run(name, func(t *testing.T) {
			got := watchFinding("changes", test.gaps)
			if got.Level != test.level || !strings.Contains(got.Detail, test.detail) || !strings.Contains(got.Remedy, test.remedy) {
				t.Errorf("finding %+v", got)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	fine, broken := []sandbox.Finding{sandbox.OK("a", "b")}, []sandbox.Finding{{Subject: "a", Level: sandbox.LevelFailed}}
	nothing := "nothing: instructions are served, but no script can run (driver: auto)"
	for _, test := range []struct {
		name           string
		setup          []sandbox.Finding
		docker, native Section
		level          sandbox.Level
		want           string
	}{
		{"both work", fine, Section{Findings: fine, outcome: ran}, Section{Findings: fine, outcome: ran}, sandbox.LevelOK, "docker"},
		{"no engine", fine, Section{Findings: broken}, Section{Findings: fine, outcome: ran}, sandbox.LevelOK, "native"},
		{"neither", fine, Section{Findings: broken}, Section{Findings: broken}, sandbox.LevelFailed, nothing},
		{"no cache", broken, Section{Findings: fine, outcome: ran}, Section{Findings: fine, outcome: ran}, sandbox.LevelFailed, nothing},
		{"an image to pull", fine, Section{Findings: fine, outcome: untried}, Section{Findings: fine, outcome: ran}, sandbox.LevelOK, "docker, if the first call can pull its image; else native"},
		{"an image to pull alone", fine, Section{Findings: fine, outcome: untried}, Section{Findings: broken}, sandbox.LevelWarning, "docker, if the first call can pull its image"},
		{"a call would fail in docker", fine, Section{Findings: broken, outcome: failed}, Section{Findings: fine, outcome: ran}, sandbox.LevelFailed, nothing},
		{"without limits", fine, Section{Findings: broken, outcome: ran}, Section{Findings: fine, outcome: ran}, sandbox.LevelFailed, "docker, without what failed above"},
	} {
		test.docker.Name, test.native.Name = "docker", "native"
		got := verdict("auto", []Section{{Findings: test.setup}, {}, test.docker, test.native})
		if got.Level != test.level || got.Detail != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}
