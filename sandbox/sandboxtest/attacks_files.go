package sandboxtest

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// writeAttacks write to folders that are read-only.
func writeAttacks() []attack {
	return []attack{
		{
			name: "write to the skill",
			bash: `
				cd /skill
				touch new 2>/dev/null && echo create
				(echo x >SKILL.md) 2>/dev/null && echo overwrite
				mv SKILL.md moved 2>/dev/null && echo rename
				rm -f SKILL.md 2>/dev/null && echo remove
				ln -s /tmp link 2>/dev/null && echo link
				ln SKILL.md /tmp/hard 2>/dev/null && echo hardlink
				chmod 777 SKILL.md 2>/dev/null && echo mode
				touch -d 2001-01-01 SKILL.md 2>/dev/null && echo time
				exec 3<SKILL.md; (echo x >/proc/self/fd/3) 2>/dev/null && echo reopen
				truncate -s 0 /skill/scripts/run.sh 2>/dev/null && echo truncate`,
		},
		{
			name: "write to the root",
			bash: `
				for dir in / /bin /sbin /lib /usr /usr/bin /usr/local/bin /etc /etc/ssl /opt /var /var/tmp /root /home /run /boot /mnt /srv /dev /sys /proc; do
					[ "$(readlink -f $dir)" = /tmp ] && continue
					name=$dir/$SUITE_MARK
					touch "$name" 2>/dev/null && echo "$dir" && rm "$name"
				done`,
			bare: true,
		},
		{
			name: "write to a read-only workspace",
			bash: `
				cd "$WORKSPACE"
				touch new 2>/dev/null && echo create
				(echo x >>note.txt) 2>/dev/null && echo append
				rm -f note.txt 2>/dev/null && echo remove
				mkdir dir 2>/dev/null && echo mkdir
				chmod 777 . 2>/dev/null && echo mode
				ln note.txt /tmp/hard 2>/dev/null && echo hardlink
				(cd /workspace && touch new 2>/dev/null) && echo alias
				mount -o remount,rw "$WORKSPACE" 2>/dev/null && echo remount`,
		},
	}
}

// readAttacks read files that are not granted, by path or by link.
func readAttacks() []attack {
	return []attack{
		{
			name: "read files that are not granted",
			bash: `
				cat "$SECRET_FILE" 2>/dev/null && echo path
				cat /proc/1/root"$SECRET_FILE" 2>/dev/null && echo "the first process's root"
				cat /proc/1/cwd/../../../../.."$SECRET_FILE" 2>/dev/null && echo "its directory"
				cd "$WORKSPACE" && cat ../../../../../../../../.."$SECRET_FILE" 2>/dev/null && echo parents
				cat "$(dirname "$SECRET_FILE")"/* 2>/dev/null && echo glob
				exec 3<"$WORKSPACE" && cat "/proc/self/fd/3/..$SECRET_FILE" 2>/dev/null && echo descriptor`,
			bare: true,
		},
		{
			name: "follow a workspace's link out of it",
			bash: `
				cat "$WORKSPACE/leak" 2>/dev/null && echo read
				cp -L "$WORKSPACE/leak" /tmp/copy 2>/dev/null && echo copy
				(echo x >>"$WORKSPACE/leak") 2>/dev/null && echo write`,
		},
		{
			name:  "plant links in a writable workspace",
			write: true,
			bash: `
				cd "$WORKSPACE"
				ln -s "$SECRET_FILE" leak; ln -s / root; ln -s /proc/1/root hostroot; ln -s ../../../../../../../../../etc/shadow up
				cat leak 2>/dev/null && echo read
				(echo x >leak) 2>/dev/null && echo write
				cat "root$SECRET_FILE" "hostroot$SECRET_FILE" 2>/dev/null && echo root
				grep -q ^root: up 2>/dev/null && echo shadow
				ln "$SECRET_FILE" hard 2>/dev/null && echo hardlink
				cp /bin/sh sh && chmod 6755 sh 2>/dev/null; [ "$(./sh -p -c 'id -u')" = 0 ] && echo setuid
				mknod device b 254 0 2>/dev/null && echo device
				true`,
		},
		{
			name: "hand out files by links in /out",
			bash: `
				cd /out
				ln -s "$SECRET_FILE" link; ln -s "$(dirname "$SECRET_FILE")" folder; ln -s / root; ln -s /proc/1/environ environ
				ln -s ../../../../../../../../../../etc/passwd up; ln -s /etc/shadow shadow; ln -s loop loop
				mkdir sub && ln -s "$SECRET_FILE" sub/link; ln -s /dev/zero zero; ln -s /proc/self/mem mem
				ln /etc/passwd hard 2>/dev/null; mkfifo fifo
				python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("/out/socket")'
				mknod device c 1 5 2>/dev/null && echo device
				echo mine >plain`,
			judge: func(o outcome) error {
				if o.err != nil {
					return fmt.Errorf("the script did not run to its end: %w", o.err)
				}
				if worked := strings.TrimSuffix(o.stdout(), tried); worked != "" {
					return fmt.Errorf("this worked: %q", worked)
				}
				return onlyPlain(o.result)
			},
		},
		{
			name: "hand out more than there is room for",
			bash: `
				cd /out
				truncate -s 1T sparse 2>/dev/null || truncate -s 200M sparse
				mkdir many && cd many && for i in $(seq 5000); do : >$i; done
				printf x >$'\e]0;title\a' ; printf x >$'new\nline'; printf x >"$(printf '\xff\xfe')"; printf x >'back\slash'
				printf x >..hidden; printf x >'$(id)'`,
			judge: func(o outcome) error {
				if err := ended(o); err != nil || o.result == nil {
					return err
				}
				return bounded(o.result.Out)
			},
		},
	}
}

// onlyPlain returns an error for a file from /out that the script did not write.
func onlyPlain(r *sandbox.Result) error {
	for _, file := range r.Out.Taken {
		if file.Name != "plain" || !bytes.Equal(file.Data, []byte("mine\n")) {
			return fmt.Errorf("the file %q was taken, with %.100q", file.Name, file.Data)
		}
	}
	return nil
}

// bounded returns an error for files above the limits, or with a name that is not
// sanitized.
func bounded(files sandbox.Files) error {
	var bytes int
	for _, file := range files.Taken {
		bytes += len(file.Data)
		if strings.ContainsAny(file.Name, "\n\x1b\\") || !utf8.ValidString(file.Name) {
			return fmt.Errorf("a file's name is %q", file.Name)
		}
	}
	if len(files.Taken) > sandbox.MaxOutFiles || bytes > sandbox.MaxOutBytes {
		return fmt.Errorf("%d files with %d bytes were taken", len(files.Taken), bytes)
	}
	return nil
}
