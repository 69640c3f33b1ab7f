package heap

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Code that is not used takes no memory once the garbage is collected.
func TestUnmapProgram(t *testing.T) {
	before := fileMemory(t)
	(&Collector{}).free()
	if after := fileMemory(t); after >= before {
		t.Errorf("%d KB of files in memory, and %d before", after, before)
	}
}

// fileMemory returns the pages of files in memory, in KB.
func fileMemory(t *testing.T) (kb int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb
}
