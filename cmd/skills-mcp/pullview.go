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
		view.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(a.stderr),
			progressbar.OptionSetDescription(ref),
			progressbar.OptionShowBytes(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	return view
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
	v.bar.ChangeMax64(p.Total + 1)
	_ = v.bar.Set64(p.Have)
}

func (v *pullView) close() {
	if v.bar != nil {
		_ = v.bar.Finish()
	}
}
