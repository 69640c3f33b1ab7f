package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox/docker"
)

// A bar follows a pull whose size is learnt on the way, even where all that was
// known of it was there for a moment.
func TestPullViewBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		view := &pullView{out: &out, bar: newBar(&out, "python:3.13-slim")}
		for _, p := range []docker.PullProgress{
			{Message: "pulling python:3.13-slim"},
			{Have: 10 << 20, Total: 10 << 20},
			{Have: 12 << 20, Total: 120 << 20},
			{Have: 30 << 20, Total: 120 << 20},
		} {
			time.Sleep(time.Second)
			view.report(p)
		}
		drawn := out.String()
		view.close()
		if !strings.Contains(drawn, "python:3.13-slim") || !strings.Contains(drawn, "(30/120 MiB") {
			t.Errorf("drew %q", drawn)
		}
		if strings.Contains(out.String(), "\n") {
			t.Errorf("left %q", out.String())
		}
	})
}

func TestPullViewPlain(t *testing.T) {
	var out strings.Builder
	view := &pullView{out: &out}
	view.report(docker.PullProgress{Message: "pulling a"})
	view.report(docker.PullProgress{Have: 1, Total: 2})
	view.report(docker.PullProgress{Have: 2, Total: 2, Message: "pulling a: 1 of 1 MB"})
	view.close()
	if out.String() != "pulling a\npulling a: 1 of 1 MB\n" {
		t.Errorf("wrote %q", out.String())
	}
}
