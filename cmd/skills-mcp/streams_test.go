package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBar(t *testing.T) {
	for _, test := range []struct {
		message string
		width   int
		want    string
	}{
		{"pulling a: 12 of 48 MB", 79, "pulling a [##        ] 12 of 48 MB"},
		{"pulling a: 48 of 48 MB", 79, "pulling a [##########] 48 of 48 MB"},
		{"pulling a: 60 of 48 MB", 79, "pulling a [##########] 60 of 48 MB"},
		{"pulling a: 0 of 0 MB", 79, "pulling a [          ] 0 of 0 MB"},
		{"pulling registry.example.com/a/long/name: 1200 of 4800 MB", 39, "pulling r… [##        ] 1200 of 4800 MB"},
		{"unpacking registry.example.com/a/long/name:1.2", 39, "unpacking registry.example.com/a/long/…"},
		{"waiting\x1b[2J", 39, "waiting"},
	} {
		got := bar(test.message, test.width)
		if got != test.want {
			t.Errorf("%q in %d columns: %q, want %q", test.message, test.width, got, test.want)
		}
		if utf8.RuneCountInString(got) > max(test.width, 39) {
			t.Errorf("%q does not fit %d columns", got, test.width)
		}
	}
}

// Elsewhere than on a terminal a pull is a few lines.
func TestQuarters(t *testing.T) {
	var out strings.Builder
	report, done := newProgress(&out)
	report("pulling a")
	for have := range 51 {
		report(fmt.Sprintf("pulling a: %d of 50 MB", have))
	}
	report("unpacking a")
	done()
	want := "pulling a\npulling a: 13 of 50 MB\npulling a: 25 of 50 MB\npulling a: 38 of 50 MB\npulling a: 50 of 50 MB\nunpacking a\n"
	if out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
}

// TestStatusLine has other output erase the status line.
func TestStatusLine(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := &statusLine{file: file}
	fmt.Fprint(s, "before\n")
	s.show("one")
	s.show("two")
	fmt.Fprint(s, "after\n")
	s.show("")
	written, err := os.ReadFile(file.Name())
	if want := "before\n\r\x1b[Kone\r\x1b[Ktwo\r\x1b[Kafter\n"; err != nil || string(written) != want {
		t.Errorf("wrote %q, want %q; error %v", written, want, err)
	}
}
