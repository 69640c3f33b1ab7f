package seccomp

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "rewrite the files that are made from others")

// A rule is one of a profile's, with what this one needs.
type rule struct {
	Names    []string                 `json:"names"`
	Action   specs.LinuxSeccompAction `json:"action"`
	ErrnoRet *uint                    `json:"errnoRet,omitempty"`
	Args     []specs.LinuxSeccompArg  `json:"args,omitempty"`
	Includes *seccomp.Filter          `json:"includes,omitempty"`
	Excludes *seccomp.Filter          `json:"excludes,omitempty"`
}

// families are the sockets that programs use. Others are much kernel for no
// purpose, or reach what no network namespace confines.
func families() []uint64 {
	return []uint64{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
}

// reduced returns Docker's default profile less
//   - what it allows for a capability: a sandbox has none;
//   - what it allows from some kernel on, which is ptrace and its like;
//   - socketcall, whose arguments are in memory, where a filter cannot see them;
//   - sockets of all but a few families.
func reduced() []rule {
	var plain []string
	var judged []rule
	for _, r := range seccomp.DefaultProfile().Syscalls {
		if in := r.Includes; in != nil && (len(in.Caps) > 0 || in.MinKernel != nil) {
			continue
		}
		switch {
		case slices.Contains(r.Names, "socket"):
		case r.Action == specs.ActAllow && len(r.Args) == 0:
			plain = append(plain, r.Names...) // what another architecture has, this one skips
		default:
			judged = append(judged, rule{r.Names, r.Action, r.ErrnoRet, r.Args, r.Includes, arches(r.Excludes)})
		}
	}
	for _, family := range families() {
		judged = append(judged, rule{
			Names: []string{"socket"}, Action: specs.ActAllow,
			Args: []specs.LinuxSeccompArg{{Index: 0, Value: family, Op: specs.OpEqualTo}},
		})
	}
	slices.Sort(plain)
	plain = slices.DeleteFunc(slices.Compact(plain), func(name string) bool { return name == "socketcall" })
	return append([]rule{{Names: plain, Action: specs.ActAllow}}, judged...)
}

// arches is what a filter says of architectures.
func arches(f *seccomp.Filter) *seccomp.Filter {
	if f == nil || len(f.Arches) == 0 {
		return nil
	}
	return &seccomp.Filter{Arches: f.Arches}
}

// TestProfile keeps the profile equal to what is made of Docker's.
func TestProfile(t *testing.T) {
	want, err := json.MarshalIndent(map[string]any{
		"defaultAction":   specs.ActErrno,
		"defaultErrnoRet": unix.EPERM,
		"syscalls":        reduced(),
	}, "", "") // a name on a line, for whoever compares; it is sent for each container
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("profile.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), Profile()); diff != "" {
		t.Errorf("profile.json is not what go generate makes (-want +got):\n%s", diff)
	}
	if len(Profile()) > 10<<10 {
		t.Errorf("the profile has %d bytes, which is much for what is sent with each container", len(Profile()))
	}
}

// parsed returns the profile's rules as an engine reads them.
func parsed(t *testing.T) []rule {
	t.Helper()
	var p struct{ Syscalls []rule }
	if err := json.Unmarshal([]byte(Profile()), &p); err != nil {
		t.Fatal(err)
	}
	return p.Syscalls
}

// What must not be allowed, whatever Docker's profile becomes.
func TestRefused(t *testing.T) {
	refused := []string{
		"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
		"io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open", "userfaultfd",
		"add_key", "keyctl", "request_key", "unshare", "setns", "clone3",
		"mount", "umount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick",
		"open_tree", "move_mount", "mount_setattr", "open_by_handle_at", "socketcall",
		"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
		"swapon", "swapoff", "acct", "syslog", "quotactl", "iopl", "ioperm", "settimeofday", "clock_settime",
		"sethostname", "setdomainname", "vhangup", "fanotify_init", "lookup_dcookie", "nfsservctl",
	}
	for _, r := range parsed(t) {
		for _, name := range r.Names {
			if r.Action == specs.ActAllow && slices.Contains(refused, name) {
				t.Errorf("%s is allowed", name)
			}
			judged := name == "socket" || name == "clone" || name == "personality"
			if r.Action == specs.ActAllow && judged != (len(r.Args) == 1) {
				t.Errorf("%s is allowed with %d conditions", name, len(r.Args))
			}
		}
	}
}

// TestNative keeps this profile and the native driver's table alike: one driver
// must not be the weaker for a call that the other refuses.
func TestNative(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	if err != nil {
		t.Fatalf("find the numbers of system calls: go list: %v", err)
	}
	table, err := os.ReadFile(filepath.Join("..", "..", "native", "syscalls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for column, arch := range []string{1: "amd64", 2: "arm64"} {
		if arch == "" {
			continue
		}
		numbers, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "zsysnum_linux_"+arch+".go"))
		if err != nil {
			t.Fatal(err)
		}
		var ours, theirs []string
		for _, name := range parsed(t)[0].Names {
			constant := "SYS_" + strings.ToUpper(name)
			// The native driver judges ioctl; here no terminal is in reach of it.
			if name != "ioctl" && regexp.MustCompile(`\t`+constant+` `).Match(numbers) {
				ours = append(ours, name)
			}
		}
		for _, line := range regexp.MustCompile(`(?m)^(\w+) (\S+) (\S+)$`).FindAllStringSubmatch(string(table), -1) {
			if line[1+column] != "-" {
				theirs = append(theirs, line[1])
			}
		}
		slices.Sort(ours)
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s: the native driver's table (-) and this profile (+) differ:\n%s", arch, diff)
		}
	}
}
