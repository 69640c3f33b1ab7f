//go:build amd64 || arm64

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestCgroupMounts(t *testing.T) {
	for name, test := range map[string]struct {
		mountinfo, cgroup string
		want              map[string]string // folder by controller
	}{
		"unified": {
			mountinfo: "31 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
			cgroup:    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope\n",
			want:      map[string]string{"": "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope"},
		},
		"hybrid, with controllers together": {
			mountinfo: "1 0 0:1 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
				"2 0 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"3 0 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			cgroup: "4:cpu,cpuacct:/a\n3:memory:/b/c\n1:name=systemd:/d\n0::/e\n",
			want: map[string]string{
				"cpu":    "/sys/fs/cgroup/cpu,cpuacct/a",
				"memory": "/sys/fs/cgroup/memory/b/c",
				"":       "/sys/fs/cgroup/unified/e",
			},
		},
		"container that sees its own only": {
			mountinfo: "2 0 0:2 /docker/id /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			cgroup:    "3:memory:/docker/id/below\n",
			want:      map[string]string{"memory": "/sys/fs/cgroup/memory/below", "pids": ""},
		},
		"elsewhere": {
			mountinfo: "2 0 0:2 /docker/id /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			cgroup:    "3:memory:/docker/identical\n",
			want:      map[string]string{"memory": ""},
		},
		"nonsense": {
			mountinfo: "\n - \nx y\n1 2 3 4 5 - cgroup\n",
			cgroup:    "x\n::\n",
			want:      map[string]string{"memory": "", "": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			points, paths := cgroupMounts(test.mountinfo), cgroupPaths(test.cgroup)
			for controller, want := range test.want {
				if got := points[controller].folder(paths[controller]); got != want {
					t.Errorf("controller %q: got %q, want %q", controller, got, want)
				}
			}
		})
	}
}

// TestUnifiedFolder finds the cgroup that may have children with controllers, in
// a tree as systemd makes it.
func TestUnifiedFolder(t *testing.T) {
	root := t.TempDir()
	for path, controllers := range map[string]string{
		"":                     "cpu io memory pids",
		"user":                 "memory pids",
		"user/app":             "memory pids",
		"user/app/terminal":    "",
		"user/app/terminal/me": "",
	} {
		folder := filepath.Join(root, path)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "cgroup.subtree_control"), controllers+"\n", 0o644)
		write(t, filepath.Join(folder, "cgroup.procs"), "", 0o644)
	}
	c := &cgroups{log: slog.New(slog.DiscardHandler)}
	c.offerUnified(mountPoint{root: "/", path: root}, "/user/app/terminal/me")
	want := []hierarchy{{folder: filepath.Join(root, "user/app"), unified: true, controllers: []string{"memory", "pids"}}}
	if diff := cmp.Diff(want, c.parents, cmp.AllowUnexported(hierarchy{})); diff != "" {
		t.Errorf("parents (-want +got):\n%s", diff)
	}
}

func TestSettings(t *testing.T) {
	limits := sandbox.Limits{Memory: 64 << 20, PIDs: 32, CPUs: 0.5}
	for name, test := range map[string]struct {
		unified bool
		want    []string
	}{
		"version 1": {false, []string{"memory.limit_in_bytes=67108864", "memory.memsw.limit_in_bytes=67108864",
			"pids.max=48", "cpu.cfs_period_us=100000", "cpu.cfs_quota_us=50000"}},
		"version 2": {true, []string{"memory.max=67108864", "memory.swap.max=0", "memory.oom.group=1",
			"pids.max=48", "cpu.max=50000 100000"}},
	} {
		h := hierarchy{unified: test.unified, controllers: wantedControllers[:]}
		var got []string
		for _, s := range h.settings(limits) {
			got = append(got, s.file+"="+s.value)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCounter(t *testing.T) {
	for text, want := range map[string]int64{
		"low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n": 2,
		"oom_kill_disable 0\nunder_oom 0\noom_kill 7\n":                7,
		"oom_kill 0": 0,
		"":           0,
	} {
		if got := counter(text, "oom_kill"); got != want {
			t.Errorf("counter(%q) = %d, want %d", text, got, want)
		}
	}
}

// TestUnifiedClone starts an init in a cgroup of version 2, where there is one
// to write to; it needs no controllers for that.
func TestUnifiedClone(t *testing.T) {
	d := newDriver(t)
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	folder := cgroupMounts(string(mountinfo))[""].folder(cgroupPaths(string(own))[""])
	if folder == "" || os.Mkdir(filepath.Join(folder, groupPrefix+"probe"), 0o755) != nil {
		t.Skip("no cgroup of version 2 to write to")
	}
	if err := os.Remove(filepath.Join(folder, groupPrefix+"probe")); err != nil {
		t.Fatal(err)
	}
	d.host.cgroups.parents = []hierarchy{{folder: folder, unified: true}}
	var members string
	got := try(t, d, sandbox.Command{
		Argv: []string{"bash", "-c", "read"}, // ends when the test has looked
		Started: func() {
			groups, _ := filepath.Glob(filepath.Join(folder, fmt.Sprintf("%s%d-*/cgroup.procs", groupPrefix, os.Getpid())))
			for _, path := range groups {
				text, _ := os.ReadFile(path)
				members += string(text)
			}
		},
		Stdin: strings.NewReader("\n"),
	})
	if len(strings.Fields(members)) != 2 { // the init and bash
		t.Errorf("the cgroup has processes %q; got %+v", members, got)
	}
}

func TestMaps(t *testing.T) {
	for ids, want := range map[string]bool{
		"         0          0 4294967295\n":                                   true,
		"         0       1000          1\n":                                   false,
		"         0       1000          1\n         1     100000      65536\n": true,
		"         0     100000      65534\n":                                   false,
		"nonsense\n":                                                           false,
	} {
		if got := maps(ids, sandbox.Nobody); got != want {
			t.Errorf("maps(%q) = %v", ids, got)
		}
	}
}

// TestRefusedByCgroup wants a process to start all the same, without the
// folders that cannot take it.
func TestRefusedByCgroup(t *testing.T) {
	d := newDriver(t)
	d.host.cgroups.parents = []hierarchy{
		{folder: t.TempDir()},                // version 1: no file "tasks"
		{folder: t.TempDir(), unified: true}, // not a cgroup at all
	}
	if got := bash(t, d, `echo ran`); got.stdout != "ran\n" || got.err != nil {
		t.Errorf("got %+v", got)
	}
}

func TestOptionalSetting(t *testing.T) {
	folder := t.TempDir()
	if err := set(folder, "memory.max", "1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("set without the file: %v, want %v", err, fs.ErrNotExist)
	}
	write(t, filepath.Join(folder, "memory.max"), "max", 0o644)
	if err := set(folder, "memory.max", "1"); err != nil {
		t.Error(err)
	}
}
