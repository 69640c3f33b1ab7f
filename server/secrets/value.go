package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// minValue and maxValue bound a value, in bytes. Shorter ones would be found, and
	// replaced, in texts that have nothing to do with them.
	minValue, maxValue = 8, 64 << 10
	// maxCommand bounds the text of a command, and commandTime its run.
	maxCommand  = 4096
	commandTime = 30 * time.Second
	// breaks are the control characters of texts that files hold, and no header field.
	breaks = "\t\n\r"
)

// Check returns an error, with the remedy, for a value that cannot be kept.
func Check(value string) error {
	switch {
	case len(value) < minValue:
		return fmt.Errorf("the value has %d bytes, and less than %d cannot be told from other text; use a longer one, or sandbox.env for what is no secret", len(value), minValue)
	case strings.TrimSpace(value) == "":
		return errors.New("the value has nothing but blanks; set the secret itself")
	case len(value) > maxValue:
		return fmt.Errorf("the value has more than %d KiB; give the skill a workspace with a file for that much", maxValue>>10)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && !strings.ContainsRune(breaks, r) || r == 0x7f }):
		return errors.New("the value is no text, or has control characters; encode it, as with base64 -w0")
	}
	return nil
}

// runCommand returns the output of a command without the line break at its end. The error has
// nothing of the output.
func runCommand(ctx context.Context, shell []string, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell[0], append(slices.Clip(shell[1:]), command)...)
	out := &limited{}
	cmd.Stdout, cmd.WaitDelay = out, time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return "", fmt.Errorf("it did not end within %s", commandTime)
	case err != nil && out.full:
		return "", fmt.Errorf("it printed more than %d KiB", maxValue>>10)
	case err != nil:
		return "", fmt.Errorf("it failed (%w); run it yourself to see why", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(out.String(), "\n"), "\r"), nil
}

// limited keeps as much as a value has, with a line break.
type limited struct {
	bytes.Buffer
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxValue+2 {
		l.full = true
		return 0, errors.New("too long")
	}
	return l.Buffer.Write(p)
}
