package clients

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// However the server ends, what runs for it ends first, and nothing is left.
func TestEnding(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: processes are looked for in /proc")
	}
	lab.Drivers(t, func(t *testing.T, driver string) {
		for name, end := range map[string]func(t *testing.T, s *process){
			"end of input": func(t *testing.T, s *process) { s.stdin.Close() },
			"SIGTERM":      func(t *testing.T, s *process) { s.signal(t, syscall.SIGTERM) },
			"SIGINT":       func(t *testing.T, s *process) { s.signal(t, syscall.SIGINT) },
			"SIGQUIT":      func(t *testing.T, s *process) { s.signal(t, syscall.SIGQUIT) },
			"client gone":  func(t *testing.T, s *process) { s.stdout.Close(); s.stdin.Close() },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				// The number of seconds, an argument from its start, tells this skill's
				// process from others, and its name its container.
				number := fmt.Sprintf("%09d", time.Now().UnixNano()%1e9)
				mark, skill := "600."+number, "endless-"+number
				s := start(t, driver, skill, endless)
				s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + skill + `","arguments":{"mark":"` + mark + `"},"_meta":{"progressToken":1}}}`)
				s.await(t, `"message":"running"`)
				if !lab.Exists(t, mark) {
					t.Fatal("the skill's process is not to be seen")
				}
				began := time.Now()
				end(t, s)
				if err := s.cmd.Wait(); err != nil {
					t.Errorf("the server ended with %v", err)
				}
				t.Logf("ended after %v", time.Since(began))
				if lab.Exists(t, mark) {
					t.Error("the skill's process is still there")
				}
				if driver == "docker" {
					if left := lab.Containers(t, "", "label=skills-mcp.skill="+skill); len(left) > 0 {
						t.Errorf("containers are left: %v", left)
					}
				}
			})
		}
	})
}

// TestKilled has the sandboxes of a server that is killed, which can no longer end
// them, end soon after their time limit.
func TestKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: processes are looked for in /proc")
	}
	lab.Drivers(t, func(t *testing.T, driver string) {
		number := fmt.Sprintf("%09d", time.Now().UnixNano()%1e9)
		mark, skill := "602."+number, "killed-"+number
		home := t.TempDir()
		lab.WriteFile(t, filepath.Join(home, "config.yaml"), lab.Configuration()+"skills: [skills]\n")
		lab.WriteFile(t, filepath.Join(home, "skills", skill, "SKILL.md"), "---\nname: "+skill+"\ndescription: Does not end.\nscript: run.sh\ntimeout_seconds: 10\n---\n")
		lab.WriteFile(t, filepath.Join(home, "skills", skill, "run.sh"), endless)
		s := startIn(t, home, driver)
		called := time.Now()
		s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + skill + `","arguments":{"mark":"` + mark + `"},"_meta":{"progressToken":1}}}`)
		s.await(t, `"message":"running"`)
		if !lab.Exists(t, mark) && time.Since(called) < 10*time.Second { // else it has ended by itself
			t.Fatal("the skill's process is not to be seen")
		}
		killed := time.Now()
		s.signal(t, syscall.SIGKILL)
		_ = s.cmd.Wait()
		for tick := time.NewTicker(100 * time.Millisecond); lab.Exists(t, mark); <-tick.C {
			if time.Since(killed) > lab.Patience {
				t.Fatal("the skill's process is still there")
			}
		}
		t.Logf("ended after %v", time.Since(killed))
		if driver == "docker" {
			for _, id := range lab.Containers(t, "", "label=skills-mcp.skill="+skill) {
				_ = lab.DockerCommand(t.Context(), "", "rm", "--force", id).Run()
			}
		}
	})
}

// A person who interrupts a run is told so.
func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		home := t.TempDir()
		lab.WriteFile(t, filepath.Join(home, "config.yaml"), lab.Configuration()+"skills: [skills]\n")
		lab.WriteFile(t, filepath.Join(home, "skills", "endless", "SKILL.md"), "---\nname: endless\ndescription: Does not end.\nscript: run.sh\n---\n")
		lab.WriteFile(t, filepath.Join(home, "skills", "endless", "run.sh"), endless)
		for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGHUP: 129} {
			cmd := exec.Command(lab.Binary, "--config", filepath.Join(home, "config.yaml"), "--sandbox", driver, "run", "endless", "--mark", "603")
			cmd.Dir = home
			cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "XDG_CONFIG_HOME="+home)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			said := ""
			for lines := bufio.NewScanner(stderr); lines.Scan(); {
				if said += lines.Text() + "\n"; lines.Text() == "running" {
					if err := cmd.Process.Signal(signal); err != nil {
						t.Error(err)
					}
				}
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(said, "stopped by the signal") {
				t.Errorf("%v: exit %d, want %d; it said %q", signal, got, code, said)
			}
		}
	})
}

// Whoever has seen enough of a list is not told of it.
func TestUnreadList(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"list"}, {"show", "colony-samples/code-complexity"}} {
		stdout, pipe, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout.Close()
		var stderr strings.Builder
		cmd := exec.Command(lab.Binary, append([]string{"--sandbox", "native"}, args...)...)
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
		cmd.Stdout, cmd.Stderr = pipe, &stderr
		err = cmd.Run()
		pipe.Close()
		if err != nil || stderr.Len() > 0 {
			t.Errorf("%v: error %v, and it said %q", args, err, &stderr)
		}
	}
}

// endless is a script that wants to outlive its call: it ignores signals, and
// leaves processes in sessions of their own.
const endless = `#!/bin/bash
trap '' TERM INT HUP
(setsid nohup sleep "$2" >/dev/null 2>&1 &)
(setsid bash -c 'sleep "$0" & sleep "$0"' "$2" &)
echo running >&2
sleep "$2"
sleep "$2"
`

// A call that the client cancels ends with all of its processes, and is never
// answered; the server goes on.
func TestCancelledCall(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: processes are looked for in /proc")
	}
	lab.Drivers(t, func(t *testing.T, driver string) {
		number := fmt.Sprintf("%09d", time.Now().UnixNano()%1e9)
		mark, skill := "601."+number, "cancelled-"+number
		s := start(t, driver, skill, `[ "$2" = quick ] && exit`+"\n"+endless)
		s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + skill + `","arguments":{"mark":"` + mark + `"},"_meta":{"progressToken":1}}}`)
		s.await(t, `"message":"running"`)
		if !lab.Exists(t, mark) {
			t.Fatal("the skill's process is not to be seen")
		}
		// There is one slot, so the second call has to wait for the end of the first.
		s.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + skill + `","arguments":{"mark":"quick"},"_meta":{"progressToken":2}}}`)
		s.await(t, `"message":"waiting for other calls to finish"`)
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}`)
		if line := s.await(t, `"id":`); !strings.Contains(line, `"id":3`) || strings.Contains(line, `"isError":true`) {
			t.Errorf("the answer is %s", line)
		}
		if lab.Exists(t, mark) {
			t.Error("the skill's processes are still there")
		}
	})
}

// A call that the client cancels ends with the skills that its scripts have called, and
// with the scripts that wait for them. Their slot is free again.
func TestCancelledStack(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: processes are looked for in /proc")
	}
	lab.Drivers(t, func(t *testing.T, driver string) {
		number := fmt.Sprintf("%09d", time.Now().UnixNano()%1e9)
		called, waiting := "604."+number, "605."+number
		home := t.TempDir()
		lab.WriteFile(t, filepath.Join(home, "config.yaml"), lab.Configuration()+"skills: [skills]\nsandbox: {slots: {total: 1}}\npolicy: {skills: {\"*\": {calls: [\"*\"]}}}\n")
		names := []string{"first-" + number, "second-" + number, "third-" + number, "last-" + number}
		for i, name := range names {
			calls, script := "", "[ \"$2\" = quick ] && exit\n"+endless
			if i < 3 {
				calls = "calls: " + names[i+1] + "\n"
				script = fmt.Sprintf("sleep %s &\necho '{\"mcp\": {\"call\": {\"skill\": %q, \"args\": {\"mark\": \"%s\"}}}}'\nread -r answer\n", waiting, names[i+1], called)
			}
			lab.WriteFile(t, filepath.Join(home, "skills", name, "SKILL.md"), "---\nname: "+name+"\ndescription: Is on the stack.\nscript: run.sh\n"+calls+"---\n")
			lab.WriteFile(t, filepath.Join(home, "skills", name, "run.sh"), script)
		}
		s := startIn(t, home, driver)
		s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + names[0] + `","arguments":{}}}`)
		within(t, func() bool { return lab.Exists(t, "sleep\x00"+called) })
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}`)
		within(t, func() bool { return !lab.Exists(t, called) && !lab.Exists(t, waiting) })
		s.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + names[3] + `","arguments":{"mark":"quick"}}}`)
		if line := s.await(t, `"id":`); !strings.Contains(line, `"id":3`) || strings.Contains(line, `"isError":true`) {
			t.Errorf("the answer is %s", line)
		}
	})
}

// within waits until a condition holds, at most for longer than it takes on any machine.
func within(t *testing.T, holds func() bool) {
	t.Helper()
	for tick, began := time.NewTicker(50*time.Millisecond), time.Now(); !holds(); <-tick.C {
		if time.Since(began) > lab.Patience {
			t.Fatalf("it does not hold after %v", lab.Patience)
		}
	}
}

// process is a server that is spoken to by hand.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	lines  *bufio.Scanner
}

// start starts a server with one skill, and initializes it.
func start(t *testing.T, driver, skill, script string) *process {
	t.Helper()
	home := t.TempDir()
	lab.WriteFile(t, filepath.Join(home, "config.yaml"), lab.Configuration()+"skills: [skills]\nsandbox: {slots: {total: 1}}\n")
	lab.WriteFile(t, filepath.Join(home, "skills", skill, "SKILL.md"), "---\nname: "+skill+"\ndescription: Does not end.\nscript: run.sh\n---\n")
	lab.WriteFile(t, filepath.Join(home, "skills", skill, "run.sh"), script)
	return startIn(t, home, driver)
}

// startIn starts a server with the configuration in a home folder, and initializes
// it.
func startIn(t *testing.T, home, driver string) *process {
	t.Helper()
	cmd := exec.Command(lab.Binary, "serve", "--config", filepath.Join(home, "config.yaml"), "--sandbox", driver)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "XDG_CONFIG_HOME="+home)
	cmd.Stderr = os.Stderr
	s := &process{cmd: cmd}
	var err error
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if s.stdout, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	s.lines = bufio.NewScanner(s.stdout)
	s.lines.Buffer(nil, 1<<20)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // nothing to do where it has ended; a kill would leave a container
		s.stdin.Close()
		_ = cmd.Wait()
	})
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.await(t, `"id":1`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *process) send(line string) { fmt.Fprintln(s.stdin, line) }

// await reads lines until one has the text, and returns it.
func (s *process) await(t *testing.T, text string) string {
	t.Helper()
	for s.lines.Scan() {
		if strings.Contains(s.lines.Text(), text) {
			return s.lines.Text()
		}
		if strings.Contains(s.lines.Text(), `"isError":true`) {
			t.Fatal(s.lines.Text())
		}
	}
	t.Fatalf("no line with %s: %v", text, s.lines.Err())
	return ""
}

func (s *process) signal(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}
