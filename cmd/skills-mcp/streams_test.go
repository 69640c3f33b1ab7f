package main

import (
	"fmt"
	"strings"
	"testing"
)

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
