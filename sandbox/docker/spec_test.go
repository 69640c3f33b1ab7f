package docker

import (
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/mount"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// testSpec returns the container of cmd on an engine with two processors.
func testSpec(t *testing.T, cmd *sandbox.Command, image *image) *spec {
	t.Helper()
	e := &engine{}
	e.info.NCPU = 2
	s, err := newSpec(cmd, image, e)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSpecMounts(t *testing.T) {
	cmd := command()
	cmd.Grant.Workspaces = []string{"/home/me/project", "/srv/data", "/srv/data"}
	s := testSpec(t, cmd, &image{ref: "base", volumes: []string{"/data", "/srv/data", "/tmp"}})
	got := map[string]string{}
	for _, m := range s.host.Mounts {
		if !m.ReadOnly {
			t.Errorf("%s is writable", m.Target)
		}
		if got[m.Target] != "" {
			t.Errorf("%s is mounted twice", m.Target)
		}
		got[m.Target] = string(m.Type) + " " + m.Source
	}
	for target, want := range map[string]string{
		"/skill":           "bind /snapshot",
		"/workspace":       "bind /home/me/project",
		"/home/me/project": "bind /home/me/project",
		"/srv/data":        "bind /srv/data",
		"/data":            "tmpfs ",
	} {
		if got[target] != want {
			t.Errorf("%s is %q, want %q", target, got[target], want)
		}
	}
	if len(got) != 5 {
		t.Errorf("mounts: %v", got)
	}
}

func TestSpecWritable(t *testing.T) {
	cmd := command()
	cmd.Grant = sandbox.Grant{Workspaces: []string{"/home/me/project"}, Write: true}
	for _, m := range testSpec(t, cmd, &image{}).host.Mounts {
		if writable := m.Target != sandbox.SkillDir; m.ReadOnly == writable {
			t.Errorf("%s: read-only is %v", m.Target, m.ReadOnly)
		}
		if m.Type != mount.TypeBind {
			t.Errorf("%s is a %s", m.Target, m.Type)
		}
	}
}

func TestSpecRefuses(t *testing.T) {
	for name, change := range map[string]func(*sandbox.Command){
		"no program":         func(c *sandbox.Command) { c.Argv = nil },
		"NUL":                func(c *sandbox.Command) { c.Argv = []string{"a\x00b"} },
		"not UTF-8":          func(c *sandbox.Command) { c.Argv = []string{"a", "\xff"} },
		"long argument":      func(c *sandbox.Command) { c.Argv = []string{"a", strings.Repeat("x", 128<<10)} },
		"long variable":      func(c *sandbox.Command) { c.Env = []string{"A=" + strings.Repeat("x", 128<<10)} },
		"too many":           func(c *sandbox.Command) { c.Argv = slices.Repeat([]string{"xxxxxxx"}, 200_000) },
		"no variable":        func(c *sandbox.Command) { c.Env = []string{"A"} },
		"relative folder":    func(c *sandbox.Command) { c.Folder = "skill" },
		"relative workspace": func(c *sandbox.Command) { c.Grant.Workspaces = []string{"project"} },
		"root":               func(c *sandbox.Command) { c.Grant.Workspaces = []string{"/"} },
		"skill's place":      func(c *sandbox.Command) { c.Grant.Workspaces = []string{"/skill/x"} },
		"devices":            func(c *sandbox.Command) { c.Grant.Workspaces = []string{"/dev/shm"} },
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command()
			change(cmd)
			if _, err := newSpec(cmd, &image{}, &engine{}); err == nil {
				t.Error("accepted")
			} else if len(err.Error()) > 300 {
				t.Errorf("the message is %d bytes", len(err.Error()))
			}
		})
	}
}

func TestSpecWorkspaceAtWorkspace(t *testing.T) {
	cmd := command()
	cmd.Grant.Workspaces = []string{"/workspace"}
	if n := len(testSpec(t, cmd, &image{}).host.Mounts); n != 2 {
		t.Errorf("%d mounts, want the skill's and the workspace's", n)
	}
}

// Images keep /root to root, who a command is not.
func TestSpecWorkspaceOfRoot(t *testing.T) {
	for workspace, want := range map[string]bool{"/root/project": true, "/root": false, "/rooted": false} {
		cmd := command()
		cmd.Grant.Workspaces = []string{workspace}
		if _, covered := testSpec(t, cmd, &image{}).host.Tmpfs["/root"]; covered != want {
			t.Errorf("%s: the image's /root is covered: %t", workspace, covered)
		}
	}
}

func TestSpecProcessors(t *testing.T) {
	cmd := command()
	for asked, want := range map[float64]int64{0.5: 5e8, 2: 2e9, 64: 2e9} {
		cmd.Limits.CPUs = asked
		if got := testSpec(t, cmd, &image{}).host.NanoCPUs; got != want {
			t.Errorf("%v processors: %d, want %d", asked, got, want)
		}
	}
}
