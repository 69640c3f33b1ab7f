//go:build amd64 || arm64

package native

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

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
		"version 1": {false, []string{"memory.memsw.limit_in_bytes=-1", "memory.limit_in_bytes=67108864", "memory.memsw.limit_in_bytes=67108864",
			"pids.max=33", "cpu.cfs_period_us=100000", "cpu.cfs_quota_us=50000"}},
		"version 2": {true, []string{"memory.max=67108864", "memory.swap.max=0", "memory.oom.group=1",
			"pids.max=33", "cpu.max=50000 100000"}},
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
	d := newWarmDriver(t, -1)
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
	useCgroups(t, d, hierarchy{folder: folder, unified: true})
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
		if got := mapsID(ids, sandbox.Nobody); got != want {
			t.Errorf("mapsID(%q) = %v", ids, got)
		}
	}
}

// TestRefusedByCgroup wants a process to start all the same, without the
// folders that cannot take it.
func TestRefusedByCgroup(t *testing.T) {
	d := newWarmDriver(t, -1)
	useCgroups(t, d, hierarchy{folder: t.TempDir()}, hierarchy{folder: t.TempDir(), unified: true}) // no cgroups at all
	if got := bash(t, d, `echo ran`); got.stdout != "ran\n" || got.err != nil {
		t.Errorf("got %+v", got)
	}
	awaitRefill(d.pool) // before the folders go
}

// useCgroups has a driver make its cgroups in other folders.
func useCgroups(t *testing.T, d *Driver, parents ...hierarchy) {
	t.Helper()
	d.pool.close()
	d.host.cgroups.close()
	d.host.cgroups = &cgroups{parents: parents, log: d.log}
	d.pool = newPool(d.host, d.warm, nil)
}

// TestCgroupRefuses wants a sandbox to do without a cgroup that cannot be
// entered, and to say so.
func TestCgroupRefuses(t *testing.T) {
	d := newWarmDriver(t, -1)
	var log bytes.Buffer
	useCgroups(t, d)
	d.host.cgroups.log = slog.New(slog.NewTextHandler(&log, nil))
	null, err := unix.Open("/dev/full", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	g := &cgroup{owner: d.host.cgroups, folders: []cgroupFolder{{hierarchy{folder: folder, controllers: []string{"memory"}}, null}}, limits: sandbox.Limits{}}
	d.host.cgroups.spare = []*cgroup{g}
	write(t, filepath.Join(folder, "memory.limit_in_bytes"), "", 0o644)
	got := bash(t, d, `ulimit -d; echo ran`)
	d.pool.work.Wait() // what it still has to say
	if !strings.HasSuffix(got.stdout, "ran\n") || got.err != nil || !strings.Contains(log.String(), "no space left") {
		t.Errorf("got %+v, log %q", got, log.String())
	}
	if want := fmt.Sprint(sandbox.DefaultLimits().Memory/1024) + "\n"; !strings.HasPrefix(got.stdout, want) {
		t.Errorf("memory of a process is bounded to %q KB, want %q", got.stdout, want)
	}
}

// TestReclaim wants a new driver to remove the cgroups of a server that was killed,
// without a command.
func TestReclaim(t *testing.T) {
	killed := exec.Command("true")
	if err := killed.Run(); err != nil {
		t.Fatal(err)
	}
	parents := findCgroups(slog.New(slog.DiscardHandler)).parents
	if len(parents) == 0 {
		t.Skip("SKIPPED: no cgroup to make others in")
	}
	left := filepath.Join(parents[0].folder, fmt.Sprintf("%s%d-1", groupPrefix, killed.Process.Pid))
	if err := os.Mkdir(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := New(&Options{Reclaim: true}).Close(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cgroup of a server that was killed is left: %v", err)
	}
}

// TestCgroupIsUsedAgain wants limits of one command not to be those of the next,
// nor what it did.
func TestCgroupIsUsedAgain(t *testing.T) {
	d := newWarmDriver(t, -1)
	if !slices.Contains(d.host.cgroups.controllers(), "memory") {
		t.Skip("SKIPPED: no cgroup to limit memory with")
	}
	d.pool.work.Wait()
	for _, memory := range []int64{96 << 20, 256 << 20, 64 << 20} {
		got := try(t, d, sandbox.Command{
			Argv:   []string{"python3", "-c", "x = b'x' * (1 << 30)"},
			Limits: sandbox.Limits{Memory: memory},
		})
		var limit *sandbox.LimitError
		if !errors.As(got.err, &limit) || limit.Value != sandbox.Bytes(memory) {
			t.Errorf("%s: got %+v", sandbox.Bytes(memory), got)
		}
		d.pool.work.Wait() // the cgroup is given back behind the call
		if got := bash(t, d, `exit 3`); got.err != nil || got.code != 3 {
			t.Errorf("the next command: %+v", got)
		}
		d.pool.work.Wait()
	}
	if made, err := filepath.Glob(filepath.Join(d.host.cgroups.parents[0].folder, fmt.Sprintf("%s%d-*", groupPrefix, os.Getpid()))); err != nil || len(made) != 1 {
		t.Errorf("cgroups %q were made, %v", made, err)
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
