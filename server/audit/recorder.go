// Package audit records the runs of skills: a row for each call that was decided about,
// without secrets, and a line in the log for each connection.
//
// Start with [New].
package audit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// The defaults of [Options].
const (
	DefaultKeep = 90 * 24 * time.Hour
	DefaultMax  = 256 << 20
)

// Options configure a [Recorder]. A nil *Options means the defaults.
type Options struct {
	// Keep is the time that rows are kept; 0 is [DefaultKeep].
	Keep time.Duration
	// Max bounds the size of the store's file, in bytes: the oldest rows are deleted. 0
	// is [DefaultMax].
	Max int64
	// Secrets are values that no row may hold, beside those of the run's own variables.
	Secrets []string
	// Logger gets the connections, and warnings about runs that are not recorded; nil
	// discards them.
	Logger *slog.Logger
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Keep, c.Max = cmp.Or(c.Keep, DefaultKeep), cmp.Or(c.Max, DefaultMax)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// pause is the time after a failed write in which runs that need no row are not
// recorded: each would wait for the disk, or for another process.
const pause = 5 * time.Second

// A Recorder is a [run.Recorder] that writes to a store. It may be used concurrently.
type Recorder struct {
	runs     store.Runs
	keeper   *keeper
	options  Options
	refusals refusals

	mu     sync.Mutex
	begun  map[string]begun // by the ID of a run
	until  time.Time        // of a pause
	missed int              // runs that were not recorded since the last warning
	warned time.Time        // the time of that
}

// A begun run has a row that says so.
type begun struct {
	seq     int64
	started time.Time
}

// New returns a recorder that writes to a store, which it opens at the first run. It is
// closed before the store. Options may be nil.
func New(s *store.Store, options *Options) *Recorder {
	r := &Recorder{runs: store.NewRuns(s), options: options.withDefaults(), begun: map[string]begun{}}
	r.keeper = newKeeper(s, r.options.Keep, r.options.Max, r.options.Logger)
	return r
}

// Close ends the recorder's own work in the background.
func (r *Recorder) Close() { r.keeper.close() }

// Begin implements [run.Recorder]. It writes a row for a run that needed a person's
// confirmation, and refuses one that cannot be recorded: who was asked must find what
// came of it.
func (r *Recorder) Begin(ctx context.Context, p *run.Proposal) error {
	if p.Approval == "" && (p.Decision == nil || p.Decision.Signatures == 0) {
		return nil
	}
	b := begun{started: time.Now()}
	row := row(p, r.secrets(p), b.started)
	row.Outcome = store.Running
	var err error
	if b.seq, err = r.runs.Add(ctx, row); err != nil {
		return (&run.Error{
			Code: run.Unavailable, Retryable: true, Err: err,
			Message: fmt.Sprintf("the run cannot be recorded, so it was not started, as it needs a person's confirmation: %v; free space on the disk, or make the folder writable", err),
		}).Told("tell the person")
	}
	r.keeper.wrote()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun[p.RunID] = b
	return nil
}

// Record implements [run.Recorder]. It returns when the row is written, or with a
// warning.
func (r *Recorder) Record(ctx context.Context, record run.Record) {
	logConnections(ctx, r.options.Logger, record)
	now := time.Now()
	b := r.end(record.RunID, now, record.Outcome)
	if !r.ready(now) && b.seq == 0 {
		r.miss(now, nil)
		return
	}
	secrets := r.secrets(record.Proposal)
	row := row(record.Proposal, secrets, b.started)
	finish(row, record, NewRedactor(secrets...))
	if err := r.add(ctx, now, row, b.seq, record); err != nil {
		r.miss(now, err)
		return
	}
	r.keeper.wrote()
}

// end returns the beginning of a run that has ended, and forgets it.
func (r *Recorder) end(id string, now time.Time, o *run.Outcome) begun {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, known := r.begun[id]
	delete(r.begun, id)
	if !known {
		b.started = now
		if o != nil {
			b.started = now.Add(-o.WallTime)
		}
	}
	return b
}

// add writes a row in place of the row begun, or counts it on an earlier one.
func (r *Recorder) add(ctx context.Context, now time.Time, row *store.Run, begun int64, record run.Record) error {
	if begun != 0 {
		return r.runs.End(ctx, begun, row)
	}
	kind, refused := kindOf(record.Principal.Key(), row)
	if !refused {
		_, err := r.runs.Add(ctx, row)
		return err
	}
	if seq := r.refusals.repeated(now, &kind); seq != 0 {
		if found, err := r.runs.Repeat(ctx, seq); found || err != nil {
			return err
		}
	}
	seq, err := r.runs.Add(ctx, row)
	if err == nil {
		r.refusals.recorded(kind, seq)
	}
	return err
}

// ready reports whether there is no pause.
func (r *Recorder) ready(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.After(r.until)
}

// miss counts a run that was not recorded, because of an error or a pause, and warns
// once in a while.
func (r *Recorder) miss(now time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed++
	if err == nil {
		return
	}
	r.until = now.Add(pause)
	if now.Sub(r.warned) < time.Minute {
		return
	}
	r.options.Logger.Warn("runs of skills are not recorded", "runs", r.missed, "error", err)
	r.missed, r.warned = 0, now
}

// secrets returns the values that the row of a proposal may not hold.
func (r *Recorder) secrets(p *run.Proposal) []string {
	all := r.options.Secrets
	if p.Command == nil {
		return all
	}
	for _, variable := range p.Command.Env {
		if name, value, _ := strings.Cut(variable, "="); slices.Contains(p.Variables, name) {
			all = append(slices.Clip(all), value)
		}
	}
	return all
}
