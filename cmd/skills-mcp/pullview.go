package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/skillsmcp/skills-mcp/sandbox/docker"
)

// A pullView shows how far a pull is: a bar on a terminal, and elsewhere a line
// for each fiftieth of the image.
type pullView struct {
	out io.Writer
	bar *progressbar.ProgressBar // nil where there is no terminal
}

// newPullView returns a view of the pull of ref. Whoever gets it closes it.
func (a *app) newPullView(ref string) *pullView {
	view := &pullView{out: a.stderr}
	if file, ok := a.stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		view.bar = newBar(a.stderr, ref)
	}
	return view
}

// newBar returns a bar that redraws itself ten times a second at most, and that
// is gone when it is finished.
func newBar(out io.Writer, what string) *progressbar.ProgressBar {
	return progressbar.NewOptions64(1,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}

func (v *pullView) report(p docker.PullProgress) {
	if v.bar == nil {
		if p.Message != "" {
			fmt.Fprintln(v.out, p.Message)
		}
		return
	}
	// A bar that was full once stays so, and the engine learns of more layers
	// as it goes.
	if most := p.Total + 1; most != v.bar.GetMax64() { // which draws it
		v.bar.ChangeMax64(most)
	}
	_ = v.bar.Set64(p.Have)
}

func (v *pullView) close() {
	if v.bar != nil {
		_ = v.bar.Finish()
	}
}
