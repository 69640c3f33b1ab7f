package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
	"github.com/skillsmcp/skills-mcp/integration/bench/figures"
)

// A row is what was measured at one number of skills. A time of 0 was not
// measured.
type row struct {
	skills          int
	first, second   time.Duration
	rss, peak       int64 // bytes
	answer          int   // bytes
	notice, slowest time.Duration
	read, cpu       time.Duration
	notices, edits  int
}

// How long after a change is waited for what should not come, and for what
// should.
const (
	quiet    = time.Second
	patience = 10 * time.Second
)

// settling is how long after its last change a file is kept for the next start:
// skills are rarely installed right before.
const settling = 2500 * time.Millisecond

// measure makes a home folder and starts servers in it.
func measure(ctx context.Context, o *options, home string, skills int) (r row, err error) {
	r = row{skills: skills, edits: o.edits}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	if err := errors.Join(catalog.Make(home, skills), pause(ctx, settling)); err != nil {
		return r, err
	}
	p, err := start(ctx, o.binary, home)
	if err != nil {
		return r, err
	}
	r.first = p.waited
	if err := errors.Join(pause(ctx, quiet), p.close()); err != nil {
		return r, err
	}
	var seconds []time.Duration
	for i := range o.starts {
		p, err := start(ctx, o.binary, home)
		if err != nil {
			return r, err
		}
		seconds = append(seconds, p.waited)
		r.answer = p.answer
		if i == o.starts-1 {
			err = r.change(ctx, p, home)
		}
		if err := errors.Join(err, p.close()); err != nil {
			return r, err
		}
	}
	r.second = figures.Percentile(seconds, 50)
	return r, nil
}

// change writes files and waits for what the server says.
func (r *row) change(ctx context.Context, p *process, home string) error {
	if err := pause(ctx, quiet); err != nil { // the start's own work is over then
		return err
	}
	r.rss, _ = p.memory()
	var notices, reads, cpus []time.Duration
	for edit := range r.edits {
		i := (edit * 7919) % r.skills
		for range len(p.read) { // lines of before
			<-p.read
		}
		before, began := figures.CPU(p.cmd.Process.Pid), time.Now()
		if err := catalog.Write(filepath.Join(home, "skills", catalog.Name(i)), i, edit+1); err != nil {
			return err
		}
		read, ok := next(p.read, patience)
		if !ok {
			return fmt.Errorf("edit %d was not noticed within %v", edit+1, patience)
		}
		reads = append(reads, read.Sub(began))
		for wait := quiet; ; {
			at, ok := next(p.notices, wait)
			if !ok {
				break
			}
			r.notices++
			notices = append(notices, at.Sub(began))
		}
		cpus = append(cpus, figures.CPU(p.cmd.Process.Pid)-before)
	}
	r.notice, r.read, r.cpu = figures.Percentile(notices, 50), figures.Percentile(reads, 50), figures.Percentile(cpus, 50)
	if len(notices) > 0 {
		r.slowest = slices.Max(notices)
	}
	_, r.peak = p.memory()
	return ctx.Err()
}

// next receives a time, or gives up after wait.
func next(from <-chan time.Time, wait time.Duration) (time.Time, bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case at, ok := <-from:
		return at, ok
	case <-timer.C:
		return time.Time{}, false
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// write prints the rows as a table.
func write(w io.Writer, rows []row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "skills\tfirst ms\tsecond ms\tRSS MB\tpeak MB\tanswer KB\tnotice ms\tslowest ms\tread ms\tnotices\tCPU ms\t")
	for _, r := range rows {
		fmt.Fprintf(table, "%d\t%s\t%s\t%.1f\t%.1f\t%.1f\t%s\t%s\t%s\t%d/%d\t%s\t\n", r.skills, ms(r.first), ms(r.second),
			megabytes(r.rss), megabytes(r.peak), float64(r.answer)/1024, ms(r.notice), ms(r.slowest), ms(r.read), r.notices, r.edits, ms(r.cpu))
	}
	return table.Flush()
}

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func ms(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000)
}
