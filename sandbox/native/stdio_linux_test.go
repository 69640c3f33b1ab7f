//go:build amd64 || arm64

package native

import (
	"bytes"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A deadline loses nothing that the pipe holds: on a busy machine it can pass before the
// output has been read once.
func TestDrainReadsPastTheDeadline(t *testing.T) {
	var out bytes.Buffer
	s, err := newStdio(identity{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if _, err := unix.Write(s.theirs[2], []byte("last words\n")); err != nil {
		t.Fatal(err)
	}
	if err := s.ours[2].SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	drain(&out, s.ours[2]) // the writing end is still open
	if got, want := out.String(), "last words\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
