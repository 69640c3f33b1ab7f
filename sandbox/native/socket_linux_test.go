//go:build amd64 || arm64

package native

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

// Messages arrive as they were sent, whatever the bytes of their strings, and
// several in a row.
func TestMessages(t *testing.T) {
	ours, file, err := newSocketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.close()
	defer file.Close()
	theirs := &socket{file: file}
	if theirs.raw, err = file.SyscallConn(); err != nil {
		t.Fatal(err)
	}
	from, to := newMessenger(ours), newMessenger(theirs)
	for _, sent := range []request{
		{Fork: true, Mounts: []mount{{Source: "/a\xff\xfe", Around: "/", Target: "/b", Write: true, Device: true, Optional: true}}},
		{Mounts: []mount{{}}},
		{},
	} {
		if err := from.send(&sent, nil); err != nil {
			t.Fatal(err)
		}
		var got request
		if _, err := to.receive(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-sent +received):\n%s", diff)
		}
	}
	var got reply
	if err := from.send(&reply{Failed: failure{stepExec, "x", unix.ENOENT}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := to.receive(&got); err != nil || got.Failed.Errno != unix.ENOENT {
		t.Errorf("%+v, error %v", got, err)
	}
}

// A message that ends before its length is an error, as one that is too long.
func TestTornMessage(t *testing.T) {
	for name, bytes := range map[string]string{"torn": "\x09\x00\x00\x00abc", "too long": "\xff\xff\xff\xff"} {
		ours, file, err := newSocketPair()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(bytes); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		var got request
		if _, err := newMessenger(ours).receive(&got); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
		ours.close()
	}
}
