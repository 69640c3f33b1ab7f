package main

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
