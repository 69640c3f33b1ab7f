package terminal

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a new terminal: the person's, and the program's.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	open := func(name string) *os.File {
		file, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return file
	}
	person = open("/dev/ptmx")
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	return person, open(fmt.Sprintf("/dev/pts/%d", n))
}

func resize(t *testing.T, person *os.File, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

// TestStatusIsResized draws each line for the terminal's width at that time.
func TestStatusIsResized(t *testing.T) {
	person, program := openTerminal(t)
	s := NewStatus(program)
	for _, columns := range []uint16{80, 30, 10, 120} {
		resize(t, person, columns)
		s.Show("pulling registry.example.com/a/rather/long/name/of/an/image: 12 of 48 MB")
		chunk := make([]byte, 4096)
		n, err := person.Read(chunk)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(string(bytes.TrimPrefix(chunk[:n], []byte("\r\x1b[J"))), "\r")
		if got := Width(line); got >= int(columns) || got < min(20, int(columns)/2) {
			t.Errorf("%d columns on a terminal of %d: %q", got, columns, line)
		}
	}
}

// TestOf wants colours on terminals alone, where nobody objects.
func TestOf(t *testing.T) {
	person, program := openTerminal(t)
	resize(t, person, 100)
	for _, test := range []struct {
		term, noColor string
		want          Screen
	}{
		{"xterm", "", Screen{100, true, true}},
		{"", "", Screen{100, true, true}},
		{"xterm", "0", Screen{100, true, false}},
		{"dumb", "", Screen{100, false, false}},
	} {
		t.Setenv("TERM", test.term)
		t.Setenv("NO_COLOR", test.noColor)
		if got := Of(program); got != test.want {
			t.Errorf("TERM=%s NO_COLOR=%s: %+v, want %+v", test.term, test.noColor, got, test.want)
		}
	}
	if file, err := os.CreateTemp(t.TempDir(), ""); err != nil || Of(file) != (Screen{}) || Of(nil) != (Screen{}) {
		t.Errorf("a file is a terminal: %v", err)
	}
	resize(t, person, 0) // as some serial lines
	if got := Of(program).Width; got != 80 {
		t.Errorf("without a width: %d columns", got)
	}
}
