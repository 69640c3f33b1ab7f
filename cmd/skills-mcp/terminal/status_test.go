package terminal

import (
	"fmt"
	"os"
	"testing"
)

func TestBar(t *testing.T) {
	for _, test := range []struct {
		message string
		columns int
		want    string
	}{
		{"pulling a: 12 of 48 MB", 79, "pulling a [##        ] 12 of 48 MB"},
		{"pulling a: 48 of 48 MB", 79, "pulling a [##########] 48 of 48 MB"},
		{"pulling a: 60 of 48 MB", 79, "pulling a [##########] 60 of 48 MB"},
		{"pulling a: 0 of 0 MB", 79, "pulling a [          ] 0 of 0 MB"},
		{"a: b: 1.5 of 3", 79, "a: b [#####     ] 1.5 of 3"},
		{"a: NaN of 3", 79, "a: NaN of 3"},
		{"天気天気天気天気: 3 of 10", 30, "天気天気… [###       ] 3 of 10"},
		{"pulling registry.example.com/a/long/name: 1200 of 4800 MB", 39, "pulling r… [##        ] 1200 of 4800 MB"},
		{"pulling a: 1200 of 4800 MB", 20, "… [##        ] 1200…"},
		{"unpacking registry.example.com/a/long/name:1.2", 39, "unpacking registry.example.com/a/long/…"},
		{"waiting\x1b[2J\nfor you", 39, "waiting for you"},
	} {
		got := Bar(test.message, test.columns)
		if got != test.want {
			t.Errorf("%q in %d columns: %q, want %q", test.message, test.columns, got, test.want)
		}
		if Width(got) > test.columns {
			t.Errorf("%q does not fit %d columns", got, test.columns)
		}
	}
}

// newStatus returns a status line on a file, and a function that returns what was written.
func newStatus(t testing.TB) (*Status, func() string) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return NewStatus(file), func() string {
		written, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(written)
	}
}

// TestStatus has other output erase the line, and draws over none that has not ended.
func TestStatus(t *testing.T) {
	s, written := newStatus(t)
	beside := s.Beside(s.file)
	fmt.Fprint(s, "before\n")
	s.Show("one")
	s.Show("two")
	fmt.Fprint(beside, "half")
	s.Show("three")
	fmt.Fprint(s, " whole\n")
	s.Show("four")
	s.Show("")
	s.Show("")
	want := "before\n\r\x1b[Jone\r\r\x1b[Jtwo\r\r\x1b[J\rhalf whole\n\r\x1b[Jfour\r\r\x1b[J\r"
	if got := written(); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}
