package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
)

// What is piped into "head" is not told that head has ended.
func TestUnread(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there, a broken pipe is another error")
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	read.Close()
	var stderr strings.Builder
	if code := execute(t.Context(), []string{"version"}, strings.NewReader(""), write, &stderr); code != exitcode.OK || stderr.Len() > 0 {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
}
