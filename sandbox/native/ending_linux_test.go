//go:build amd64 || arm64

package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
)

// TestNothingLeft compares what the server has before and after runs that end in
// every way.
func TestNothingLeft(t *testing.T) {
	if err := newDriver(t).Close(); err != nil { // skips
		t.Fatal(err)
	}
	folder := openFolder(t)
	ways := map[string]func(d *Driver){
		"success":         func(d *Driver) { bash(t, d, `sleep 600 & echo out`) },
		"missing program": func(d *Driver) { try(t, d, sandbox.Command{Argv: []string{"no-such-program"}}) },
		"no workspace": func(d *Driver) {
			try(t, d, sandbox.Command{Argv: []string{"true"}, Grant: sandbox.Grant{Workspaces: []string{folder, "/no-such-folder"}}})
		},
		"cancellation": func(d *Driver) {
			ctx, cancel := context.WithCancel(t.Context())
			tryContext(t, ctx, d, sandbox.Command{Argv: []string{"sleep", "600"}, Started: cancel})
		},
		"stdin that blocks": func(d *Driver) {
			reader, writer := io.Pipe()
			try(t, d, sandbox.Command{Argv: []string{"true"}, Stdin: reader})
			_ = writer.Close()
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			before := descriptors(t)
			d := New(nil)
			way(d)
			way(d)
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if after := descriptors(t); !slices.Equal(before, after) {
				t.Errorf("descriptors before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
	if left := leftOf(t, os.Getpid()); left > 0 {
		t.Errorf("%d cgroups left", left)
	}
	if _, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("children left: wait4: %v", err)
	}
}

// leftOf returns how many cgroups there are of a server's.
func leftOf(t *testing.T, pid int) (count int) {
	t.Helper()
	for _, parent := range findCgroups(slog.New(slog.DiscardHandler)).parents {
		left, err := filepath.Glob(filepath.Join(parent.folder, fmt.Sprintf("%s%d-*", groupPrefix, pid)))
		if err != nil {
			t.Fatal(err)
		}
		count += len(left)
	}
	return count
}

// descriptors lists the open ones by what they are, numbers aside.
func descriptors(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, path := range paths {
		target, err := os.Readlink(path)
		if err != nil {
			continue // that of the listing itself
		}
		kind, _, _ := strings.Cut(target, ":") // a pipe's number is another each time
		open = append(open, kind)
	}
	slices.Sort(open)
	return open
}

// serverFolder makes the test binary a server that runs one command until it is
// killed.
const (
	serverFolder = "SKILLS_MCP_TEST_SERVER_FOLDER"
	serverGuard  = "SKILLS_MCP_TEST_SERVER_GUARD"
)

func serve(folder string) {
	_, err := New(&Options{Guard: protect.New(os.Getenv(serverGuard))}).Run(context.Background(), &sandbox.Command{
		RunID:  "server",
		Argv:   []string{"bash", "-c", `trap '' TERM; exec 9>/workspace/alive; echo started >&9; sleep 600 & sleep 600`},
		Folder: folder,
		Grant:  sandbox.Grant{Workspaces: []string{folder}, Write: true},
		Stderr: os.Stderr,
	})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestServerKilled kills a server with SIGKILL. Every process of its sandbox
// holds the writing end of a named pipe, whose end is awaited.
func TestServerKilled(t *testing.T) {
	newDriver(t)
	folder := openFolder(t)
	alive := filepath.Join(folder, "alive")
	if err := unix.Mkfifo(alive, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{alive, folder} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	guard := t.TempDir()
	server := exec.Command("/proc/self/exe")
	server.Env = append(os.Environ(), serverFolder+"="+folder, serverGuard+"="+guard)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.Open(alive) // waits for a writer
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	line := make([]byte, len("started\n"))
	if _, err := io.ReadFull(pipe, line); err != nil {
		t.Fatal(err)
	}
	if err := server.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(pipe); err != nil || len(rest) > 0 {
		t.Errorf("the pipe ended with %q, %v", rest, err)
	}
	_ = server.Wait()
	if _, err := os.Stat(filepath.Join(folder, ".vscode")); err != nil {
		t.Errorf("the server has protected nothing: %v", err)
	}
	protect.New(guard) // of the next server
	if left, err := filepath.Glob(filepath.Join(folder, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left in the workspace: %q, %v", left, err)
	}
	// The next server clears away what this one left, once the last process has
	// ended, for which there is no event.
	deadline := time.Now().Add(5 * time.Minute)
	for leftOf(t, server.Process.Pid) > 0 {
		if time.Now().After(deadline) {
			t.Fatal("cgroups are left")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestWholeMemory has many processes use memory that only together is too much.
func TestWholeMemory(t *testing.T) {
	d := newDriver(t)
	if !slices.Contains(d.host.cgroups.controllers(), "memory") {
		t.Skip("SKIPPED: no cgroup to limit memory with")
	}
	got := try(t, d, sandbox.Command{
		Argv: []string{"bash", "-c", `
			for i in 1 2 3 4 5 6 7 8; do
				python3 -c 'import time; x = b"x" * (32 << 20); time.sleep(600)' &
			done; wait -n`},
		Limits: sandbox.Limits{Memory: 96 << 20},
	})
	var limit *sandbox.LimitError
	if !errors.As(got.err, &limit) || limit.Limit != sandbox.LimitMemory || limit.Value != "96 MB" {
		t.Errorf("got %+v", got)
	}
}

// TestExecutionErrors wants errors that say what to do.
func TestExecutionErrors(t *testing.T) {
	d := newDriver(t)
	folder := openFolder(t)
	write(t, filepath.Join(folder, "orphan"), "#!/usr/bin/no-such-interpreter\n", 0o755)
	write(t, filepath.Join(folder, "plain"), "echo hello\n", 0o755)
	write(t, filepath.Join(folder, "closed"), "#!/bin/sh\n", 0o644)
	for program, want := range map[string]string{
		"no-such-program": "no-such-program is not on this machine",
		"./orphan":        "the interpreter that ./orphan names",
		"./plain":         "no script that begins with #!",
		"./closed":        "permission denied",
		"/skill/missing":  "there is no such file in the sandbox",
		"/skill":          "permission denied",
	} {
		got := try(t, d, sandbox.Command{Argv: []string{program}, Folder: folder})
		if got.err == nil || !strings.Contains(got.err.Error(), want) || got.started != 0 {
			t.Errorf("%s: got %+v, want an error with %q", program, got, want)
		}
	}
	for name, argv := range map[string][]string{"none": nil, "empty": {""}, "NUL": {"echo", "a\x00b"}} {
		if got := try(t, d, sandbox.Command{Argv: argv}); got.err == nil || got.started != 0 {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

// TestProgramInMemory starts the init from a copy, as for an executable that its
// user may not execute.
func TestProgramInMemory(t *testing.T) {
	d := newDriver(t)
	program, err := copyProgram("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	d.host.program = program // closed with the driver
	if got := bash(t, d, `echo ran`); got.stdout != "ran\n" {
		t.Errorf("got %+v", got)
	}
}
