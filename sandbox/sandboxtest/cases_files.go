package sandboxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func (s suite) filesystem(t *testing.T) {
	cmd := bash(`
		cat /skill/SKILL.md scripts/run.sh
		for path in /skill/new /skill/SKILL.md /new /usr/new /etc/new /bin/new /dev/new /proc/new; do
			(echo x >"$path") 2>/dev/null && echo "wrote $path"
		done
		for dir in /tmp /out; do
			echo kept >$dir/file && cat $dir/file
			printf '#!/bin/sh\n' >$dir/set; chmod 6755 $dir/set
			stat -f -c %T $dir
		done
		mkdir /tmp/a && ln -s /etc /tmp/a/b && rm -r /tmp/a
		exit 0`)
	cmd.Folder = Folder(t, map[string]string{"SKILL.md": "skill\n", "scripts/run.sh": "script\n"})
	r, err := s.once(t.Context(), cmd)
	must(t, err)
	wantStdout(t, r, "skill\nscript\nkept\ntmpfs\nkept\ntmpfs\n")
	if entries, err := os.ReadDir(cmd.Folder); err != nil || len(entries) != 2 {
		t.Errorf("the skill's folder has changed: %v, %v", entries, err)
	}
}

func (s suite) workspace(t *testing.T) {
	first, second := Folder(t, map[string]string{"a.txt": "first\n"}), Folder(t, map[string]string{"b.txt": "second\n"})
	t.Run("read-only", func(t *testing.T) {
		cmd := bash(`cat /workspace/a.txt "$1/a.txt" "$2/b.txt"; (echo x >"$1/new" || echo x >/workspace/new) 2>/dev/null || echo refused`, first, second)
		cmd.Grant.Workspaces = []string{first, second}
		r, err := s.once(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "first\nfirst\nsecond\nrefused\n")
	})
	t.Run("writable", func(t *testing.T) {
		must(t, os.Chmod(first, 0o777)) // the command may run as nobody
		cmd := bash(`umask; echo one >/workspace/new && echo two >>"$1/new"`, first)
		cmd.Grant = sandbox.Grant{Workspaces: []string{first}, Write: true}
		r, err := s.once(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "0022\n")
		got, err := os.ReadFile(filepath.Join(first, "new"))
		if err != nil || string(got) != "one\ntwo\n" {
			t.Errorf("the file in the workspace: %q, %v; stderr: %s", got, err, r.Stderr.Bytes())
		}
	})
	t.Run("not granted is not there", func(t *testing.T) {
		r := s.bash(t, `ls "$1" /workspace 2>/dev/null; echo end`, first)
		wantStdout(t, r, "end\n")
	})
	t.Run("with an awkward name", func(t *testing.T) {
		// A driver that formats mounts as text could mount another folder.
		for _, name := range []string{"a, b", "a,rw", "a,dst=/usr", "a,src=/etc", "a:rw", "a=b", `a"b'c`, "a b\tc", "ä"} {
			folder := filepath.Join(shared(t), name)
			must(t, os.MkdirAll(folder, 0o755))
			must(t, os.WriteFile(filepath.Join(folder, "file"), []byte("read\n"), 0o666))
			must(t, os.Chmod(filepath.Join(folder, "file"), 0o666))
			cmd := bash(`cat "$1/file"; (echo x >"$1/file") 2>/dev/null || echo refused`, folder)
			cmd.Grant.Workspaces = []string{folder}
			r, err := s.once(t.Context(), cmd)
			if err != nil {
				if text := err.Error(); !strings.Contains(text, "workspace") {
					t.Errorf("workspace %q: error %v, want one that tells of the workspace", name, err)
				}
				continue
			}
			wantStdout(t, r, "read\nrefused\n")
		}
	})
	t.Run("that would hide the sandbox is refused", func(t *testing.T) {
		for _, path := range []string{"/", sandbox.SkillDir, "/proc", "/dev", sandbox.OutDir, "relative"} {
			cmd := bash(`echo ran`)
			cmd.Grant.Workspaces = []string{path}
			if r, err := s.once(t.Context(), cmd); err == nil {
				t.Errorf("workspace %s: ran: %s", path, r.Stdout.Bytes())
			}
		}
	})
}

// out runs a command with files in /out that cannot be collected: each is named, and none
// takes long.
func (s suite) out(t *testing.T) {
	r := s.bash(t, `
		cd /out
		echo taken >ok
		truncate -s 400M sparse
		echo secret >unreadable && chmod 000 unreadable
		mkdir closed && echo x >closed/file && chmod 000 closed
		python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
		mkfifo fifo`)
	left := strings.Join(r.Out.Left, "\n")
	for _, name := range []string{"sparse", "socket", "fifo"} {
		if !strings.Contains(left, name) {
			t.Errorf("%s is not named: %q", name, left)
		}
	}
	taken := map[string]string{}
	for _, f := range r.Out.Taken {
		taken[f.Name] = string(f.Data)
	}
	for _, name := range []string{"unreadable", "closed"} { // which root can read
		if _, ok := taken[strings.Replace(name, "closed", "closed/file", 1)]; !ok && !strings.Contains(left, name) {
			t.Errorf("%s is neither taken nor named: %q", name, left)
		}
	}
	if taken["ok"] != "taken\n" || len(taken) > 3 {
		t.Errorf("taken are %q", taken)
	}
}
