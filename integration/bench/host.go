package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// searchPath is the PATH inside of every sandbox. Contenders on the host use it
// too: a person's own may have slow wrappers of an interpreter.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// find returns the file of a program of the host.
func find(program string) (string, error) {
	for _, dir := range strings.Split(searchPath, ":") {
		file := filepath.Join(dir, program)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &absentError{fmt.Sprintf("there is no %s in %s", program, searchPath)}
}

// programs are the files of the scripts' interpreters.
func programs() (map[string]string, error) {
	files := map[string]string{}
	for _, s := range scripts() {
		file, err := find(s.program)
		if err != nil {
			return nil, err
		}
		files[s.program] = file
	}
	return files, nil
}

// execute runs a program of the host with the environment of a sandbox, and
// checks what it prints.
func execute(ctx context.Context, dir string, env []string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + searchPath, "LANG=C.UTF-8"}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %.500s", filepath.Base(argv[0]), err, &stderr)
	}
	return check(stdout.String())
}

func (s *setup) bare(_ context.Context, name string) (*contender, error) {
	files, err := programs()
	if err != nil {
		return nil, err
	}
	return &contender{name: name, call: func(ctx context.Context, p part) error {
		return execute(ctx, s.folder, []string{"HOME=/tmp"}, files[p.script.program], p.script.file)
	}}, nil
}

func (s *setup) bubblewrap(_ context.Context, name string) (*contender, error) {
	program, err := find("bwrap")
	if err != nil {
		return nil, err
	}
	argv := []string{
		program, "--unshare-all", "--die-with-parent", "--new-session",
		"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		"--ro-bind", s.folder, "/skill", "--chdir", "/skill",
	}
	return &contender{name: name, call: func(ctx context.Context, p part) error {
		return execute(ctx, s.dir, []string{"HOME=/tmp"}, append(argv[:len(argv):len(argv)], p.script.argv()...)...)
	}}, nil
}
