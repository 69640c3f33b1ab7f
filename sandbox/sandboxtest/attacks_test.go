package sandboxtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDocumented keeps docs/security.md and the table alike.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	must(t, err)
	_, list, found := strings.Cut(string(text), "\n## Attacks\n")
	list, _, more := strings.Cut(list, "\n## ")
	if !found || !more {
		t.Fatal("docs/security.md has no section Attacks, or none after it")
	}
	var documented, made []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(list, -1) {
		if row[1] != "attack" && row[1] != "---" {
			documented = append(documented, row[1])
		}
	}
	for _, a := range attacks() {
		made = append(made, a.name)
	}
	if diff := cmp.Diff(made, documented); diff != "" {
		t.Errorf("docs/security.md does not list the attacks that are made, in their order (-made +documented):\n%s", diff)
	}
	for name := range requirements() {
		if !slices.Contains(made, name) {
			t.Errorf("there is no attack %q", name)
		}
	}
	slices.Sort(made)
	if len(slices.Compact(made)) != len(attacks()) {
		t.Error("two attacks have one name")
	}
}

// TestAttacksWork makes attacks without a sandbox, where they must succeed: a
// script that never could would prove nothing in one. It makes those that do
// root's machine no lasting harm.
func TestAttacksWork(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can do what these attacks try")
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || !regexp.MustCompile(`(?m)^Seccomp:\s0$`).Match(status) {
		t.Skip("SKIPPED: these tests are in a sandbox themselves, or not on Linux")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("SKIPPED: the attacks need python3")
	}
	h := newHost(t, bare)
	var n int
	for _, a := range attacks() {
		if !a.bare {
			continue
		}
		n++
		t.Run(a.name, func(t *testing.T) {
			o := h.run(t, a, newMark())
			if o.err != nil {
				t.Fatal(o.err)
			}
			if err := a.verdict(Traits{}, o); err == nil {
				t.Errorf("without a sandbox nothing worked: %v", o)
			}
		})
	}
	if n < 10 {
		t.Errorf("%d attacks were made", n)
	}
}

// bare runs a command as it is.
func bare(ctx context.Context, cmd sandbox.Command) (*sandbox.Result, error) {
	var stdout, stderr bytes.Buffer
	run := exec.CommandContext(ctx, cmd.Argv[0], cmd.Argv[1:]...)
	run.Dir = cmd.Folder
	run.Env = append([]string{"PATH=" + os.Getenv("PATH")}, cmd.Env...)
	run.Stdin, run.Stdout, run.Stderr = cmd.Stdin, &stdout, &stderr
	if cmd.Stderr != nil {
		run.Stderr = cmd.Stderr
	}
	err := run.Run()
	result := &sandbox.Result{Stdout: sandbox.Output{Head: stdout.Bytes()}, Stderr: sandbox.Output{Head: stderr.Bytes()}}
	result.Code = run.ProcessState.ExitCode()
	if _, exited := err.(*exec.ExitError); exited {
		err = nil
	}
	return result, err
}

// A judge that passes everything would be none.
func TestJudges(t *testing.T) {
	well := func(stdout string) outcome {
		return outcome{result: &sandbox.Result{Stdout: sandbox.Output{Head: []byte(stdout), Total: int64(len(stdout))}}}
	}
	for _, a := range attacks() {
		bad := []outcome{well("worked\n"), well("9999999999\n" + tried), well("made 1000000\n"), {}}
		if a.name == "hand out files by links in /out" {
			bad = append(bad[:0], withFile("link", "root:x:0:0\n"))
		}
		if a.name == "hand out more than there is room for" {
			bad = append(bad[:0], withFile("new\nline", ""))
		}
		if !slices.ContainsFunc(bad, func(o outcome) bool { return a.verdict(Traits{}, o) != nil }) {
			t.Errorf("%s: nothing fails it", a.name)
		}
	}
}

func withFile(name, data string) outcome {
	r := &sandbox.Result{Stdout: sandbox.Output{Head: []byte(tried)}}
	r.Out.Taken = []sandbox.File{{Name: name, Data: []byte(data)}}
	return outcome{result: r}
}
