//go:build linux && (amd64 || arm64)

package native

import (
	"flag"
	"fmt"
	"maps"
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
)

var update = flag.Bool("update", false, "rewrite the files that are made from others")

// TestSyscallTable keeps the table equal to the calls that Docker's default profile allows a
// container without capabilities.
func TestSyscallTable(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	if err != nil {
		t.Skipf("cannot find the numbers of system calls: go list: %v", err)
	}
	want := table(t, strings.TrimSpace(string(out)))
	if *update {
		if err := os.WriteFile("syscalls.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, syscallTable); diff != "" {
		t.Errorf("syscalls.txt is not what go generate makes (-want +got):\n%s", diff)
	}
}

// table renders the allowed calls with their numbers on each architecture, from the
// source of x/sys/unix.
func table(t *testing.T, source string) string {
	t.Helper()
	lines := map[string][]string{}
	arches := []string{"amd64", "arm64"}
	for i, arch := range arches {
		numbers, err := os.ReadFile(filepath.Join(source, "zsysnum_linux_"+arch+".go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range unconditional(arch) {
			constant := regexp.MustCompile(`\tSYS_` + strings.ToUpper(name) + ` += (\d+)`).FindSubmatch(numbers)
			if constant == nil {
				continue
			}
			if lines[name] == nil {
				lines[name] = slices.Repeat([]string{"-"}, len(arches))
			}
			lines[name][i] = string(constant[1])
		}
	}
	var out strings.Builder
	out.WriteString("# Made from Docker's default seccomp profile by go generate; DO NOT EDIT. Numbers: " + strings.Join(arches, ", ") + ".\n")
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintln(&out, name, strings.Join(lines[name], " "))
	}
	return out.String()
}

// unconditional returns the calls that the profile allows on arch without capabilities,
// conditions on arguments, or on the kernel: Docker allows ptrace and
// process_vm_readv from 4.8 on, and no skill needs them.
func unconditional(arch string) []string {
	var names []string
	for _, rule := range seccomp.DefaultProfile().Syscalls {
		if rule.Action != specs.ActAllow || len(rule.Args) > 0 {
			continue
		}
		if in := rule.Includes; in != nil {
			elsewhere := len(in.Arches) > 0 && !slices.Contains(in.Arches, arch)
			if elsewhere || len(in.Caps) > 0 || in.MinKernel != nil {
				continue
			}
		}
		names = append(names, rule.Names...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == "ioctl" }) // judged by argument
}
