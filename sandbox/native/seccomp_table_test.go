//go:build linux && (amd64 || arm64)

package native

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
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

// TestSyscallTable keeps the table of each architecture equal to what Docker's
// default profile allows a container without capabilities.
func TestSyscallTable(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	if err != nil {
		t.Skipf("cannot find the numbers of system calls: go list: %v", err)
	}
	folder := strings.TrimSpace(string(out))
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			numbers, err := os.ReadFile(filepath.Join(folder, "zsysnum_linux_"+arch+".go"))
			if err != nil {
				t.Fatal(err)
			}
			want := table(t, arch, numbers)
			name := "zsyscalls_linux_" + arch + ".go"
			if *update {
				if err := os.WriteFile(name, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s is not what go generate makes (-want +got):\n%s", name, diff)
			}
		})
	}
}

// table renders the allowed calls that x/sys/unix has a number for.
func table(t *testing.T, arch string, numbers []byte) []byte {
	var out bytes.Buffer
	fmt.Fprintln(&out, "// Code generated from Docker's default seccomp profile by go generate; DO NOT EDIT.")
	fmt.Fprint(&out, "\npackage native\n\nimport \"golang.org/x/sys/unix\"\n\n")
	fmt.Fprint(&out, "// allowedCalls returns the system calls that are allowed whatever their arguments.\n")
	fmt.Fprint(&out, "func allowedCalls() []uint32 {\nreturn []uint32{\n")
	for _, name := range unconditional(arch) {
		constant := "SYS_" + strings.ToUpper(name)
		if regexp.MustCompile(`\t` + constant + ` `).Match(numbers) {
			fmt.Fprintf(&out, "unix.%s,\n", constant)
		}
	}
	fmt.Fprint(&out, "}\n}\n")
	formatted, err := format.Source(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return formatted
}

// unconditional returns what the profile allows on arch without capabilities,
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
