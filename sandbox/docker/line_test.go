package docker

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// Arguments, variables and input reach a program in a container byte for byte.
// Package shellproto shows this of all shells and more strings.
func TestLineInContainer(t *testing.T) {
	d := realDriver(t)
	show := []string{"perl", "-e", `binmode STDIN; print "$_\0" for @ARGV; for (sort keys %ENV) { print "$_=$ENV{$_}\0" if /X/ } local $/; print <STDIN>`, "--"}
	for _, odd := range []string{
		"", "\n\na\n\n", `''"'"'\''"'`, "\x01\x1b\x7f\r\t", "\u0081\u0441\u0088\u0441", "žluťoučký 馬 🐴 \u2028 \U0010ffff",
		strings.Repeat("'\n", 8<<10) + strings.Repeat("é\\", 8<<10), "$HOME $(id) `id` * ; & \\",
	} {
		args, env := []string{odd, "", odd}, []string{"SKILL_X=" + odd, "a.b-X=" + odd}
		var stdout, stderr bytes.Buffer
		cmd := realCommand(t, "")
		cmd.Argv, cmd.Env = slices.Concat(show, args), env
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("in\x00put"), &stdout, &stderr
		exit, err := d.Run(t.Context(), cmd)
		if err != nil {
			t.Fatalf("%.20q: %v", odd, err)
		}
		if want := strings.Join(slices.Concat(args, env, []string{"in"}), "\x00") + "\x00put"; exit.Code != 0 || stdout.String() != want || stderr.String() != "" {
			t.Errorf("%.20q: code %d, said %.200q, and %.200q; want %.200q", odd, exit.Code, &stdout, &stderr, want)
		}
	}
}
