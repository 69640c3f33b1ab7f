package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Outcomes of a [Run] that the store itself gives.
const (
	// Running is the outcome of a run that has started.
	Running = "running"
	// Interrupted is the outcome of a run whose process ended before it.
	Interrupted = "interrupted"
)

// A Run is a row of the record: a proposal, with its decision and its end. It holds no
// secret.
type Run struct {
	Seq     int64     `json:"seq"` // grows with each row
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	// Ended is the time of the row: of the end, the refusal, or the start of a run that
	// has not ended.
	Ended   time.Time `json:"ended"`
	Outcome string    `json:"outcome"`
	Skill   string    `json:"skill,omitempty"`
	PID     int       `json:"pid"` // of the process of skills-mcp; in a shared database its [Store.Instance]
	// Times is the number of calls that the row stands for: repeated refusals share one.
	Times    int           `json:"times"`
	Duration time.Duration `json:"duration_ns"`
	Exit     *int          `json:"exit,omitempty"`  // nil: the command did not end by itself
	Error    string        `json:"error,omitempty"` // the code

	Parent    string `json:"parent,omitempty"` // ID of the run whose script made the call
	Principal string `json:"principal"`        // the kind
	Subject   string `json:"subject,omitempty"`
	Profile   string `json:"profile,omitempty"`
	Way       string `json:"way"`
	Action    string `json:"action"`
	Origin    string `json:"origin,omitempty"`
	Digest    string `json:"digest,omitempty"`
	Class     string `json:"class,omitempty"`
	Rule      string `json:"rule,omitempty"`
	Approval  string `json:"approval,omitempty"`
	Limit     string `json:"limit,omitempty"` // the limit that ended it
	Stdout    int64  `json:"stdout_bytes"`
	Stderr    int64  `json:"stderr_bytes"`
	Files     int64  `json:"files_bytes"`
	Message   string `json:"message,omitempty"` // of the error

	// JSON; nil is none.
	Grant       json.RawMessage `json:"grant,omitempty"`
	Connections json.RawMessage `json:"connections,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"`
}

const runColumns = `id, ended, started, outcome, skill, pid, times, duration, exit, error, parent, principal, subject,
	profile, way, action, origin, digest, class, rule, approval, limited, stdout, stderr, files, message, granted, connections, args`

// values returns the values of runColumns.
func (r *Run) values() []any {
	return []any{r.ID, r.Ended.UnixMilli(), r.Started.UnixMilli(), r.Outcome, r.Skill, r.PID, max(1, r.Times), int64(r.Duration), r.Exit, r.Error, r.Parent, r.Principal, r.Subject,
		r.Profile, r.Way, r.Action, r.Origin, r.Digest, r.Class, r.Rule, r.Approval, r.Limit, r.Stdout, r.Stderr, r.Files, r.Message, string(r.Grant), string(r.Connections), string(r.Args)}
}

// scanRun reads a row of seq and runColumns.
func scanRun(row scanner) (*Run, error) {
	var r Run
	var ended, started, duration int64
	var grant, connections, args string
	err := row.Scan(&r.Seq, &r.ID, &ended, &started, &r.Outcome, &r.Skill, &r.PID, &r.Times, &duration, &r.Exit, &r.Error, &r.Parent, &r.Principal, &r.Subject,
		&r.Profile, &r.Way, &r.Action, &r.Origin, &r.Digest, &r.Class, &r.Rule, &r.Approval, &r.Limit, &r.Stdout, &r.Stderr, &r.Files, &r.Message, &grant, &connections, &args)
	r.Ended, r.Started, r.Duration = time.UnixMilli(ended), time.UnixMilli(started), time.Duration(duration)
	r.Grant, r.Connections, r.Args = raw(grant), raw(connections), raw(args)
	return &r, err
}

// raw returns JSON text as a value; nil for "".
func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// Runs is the table of the record.
type Runs struct{ store *Store }

// NewRuns returns the record in a store. It opens nothing.
func NewRuns(s *Store) Runs { return Runs{s} }

// insertRun is the statement that adds a row.
const insertRun = "INSERT INTO runs (" + runColumns + ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"

// Add adds a row, and returns its number. When it returns, the row survives the end of
// the process.
func (t Runs) Add(ctx context.Context, r *Run) (seq int64, err error) {
	if t.store.Shared() {
		return t.addShared(ctx, r)
	}
	result, err := t.store.execute(ctx, "runs", insertRun, r.values()...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// addShared is Add for a shared database, where the number of the server is in place of the
// process's.
func (t Runs) addShared(ctx context.Context, r *Run) (seq int64, err error) {
	row := *r
	if row.PID, err = t.store.Instance(ctx); err != nil {
		return 0, err
	}
	err = t.store.write(ctx, "runs", func(tx *transaction) error {
		seq, err = one(selectIn(tx, scanOne[int64], insertRun+" RETURNING seq", row.values()...))
		return err
	})
	return seq, err
}

// End gives a row that was added when its run began the end of the run, and a new number:
// who follows the record sees it again. A row that is gone is added.
func (t Runs) End(ctx context.Context, begun int64, r *Run) error {
	result, err := t.store.execute(ctx, "runs", `UPDATE runs SET seq = (SELECT max(seq) + 1 FROM runs),
		ended = ?, outcome = ?, duration = ?, exit = ?, error = ?, limited = ?, stdout = ?, stderr = ?, files = ?, message = ?, connections = ? WHERE seq = ?`,
		r.Ended.UnixMilli(), r.Outcome, int64(r.Duration), r.Exit, r.Error, r.Limit, r.Stdout, r.Stderr, r.Files, r.Message, string(r.Connections), begun)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); n > 0 || err != nil {
		return err
	}
	_, err = t.Add(ctx, r)
	return err
}

// Repeat counts another call on a row. It reports false if the row is gone.
func (t Runs) Repeat(ctx context.Context, seq int64) (found bool, err error) {
	result, err := t.store.execute(ctx, "runs", "UPDATE runs SET times = times + 1 WHERE seq = ?", seq)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// A RunFilter selects rows of the record. Zero fields select all.
type RunFilter struct {
	Skill, Outcome string
	Parent         string // ID of a run: those that its script called
	Approval       string // ID of the approval that they ran by
	// Owner selects the runs of one principal; nil selects those of all.
	Owner *RunOwner
	// Since bounds the end of the runs.
	Since time.Time
	// Before and After bound the numbers of the rows, without themselves.
	Before, After int64
	// Oldest orders by growing numbers; else the newest comes first.
	Oldest bool
	// Limit is the largest number of rows.
	Limit int
}

// A RunOwner is a principal, as a [Run] names it. One with a subject owns its runs with all
// profiles.
type RunOwner struct{ Principal, Subject, Profile string }

// Owns reports whether a run is of a principal.
func (o RunOwner) Owns(r *Run) bool {
	return o.Principal == r.Principal && o.Subject == r.Subject && (o.Subject != "" || o.Profile == r.Profile)
}

// List returns a page of the rows that a filter selects.
func (t Runs) List(ctx context.Context, f RunFilter) (page []*Run, err error) {
	where, values := f.where()
	order := "DESC"
	if f.Oldest {
		order = "ASC"
	}
	return collect(ctx, t.store.stateFile, scanRun, "SELECT seq, "+runColumns+" FROM runs"+where+" ORDER BY seq "+order+" LIMIT ?", append(values, f.Limit)...)
}

// where returns the condition of a filter, and its values.
func (f RunFilter) where() (condition string, values []any) {
	var all []string
	add := func(is bool, condition string, value any) {
		if is {
			all, values = append(all, condition), append(values, value)
		}
	}
	add(f.Skill != "", "skill = ?", f.Skill)
	add(f.Outcome != "", "outcome = ?", f.Outcome)
	add(f.Parent != "", "parent = ? AND parent <> ''", f.Parent) // as the index says
	add(f.Approval != "", "approval = ?", f.Approval)
	if o := f.Owner; o != nil {
		add(true, "principal = ?", o.Principal)
		add(true, "subject = ?", o.Subject)
		add(o.Subject == "", "profile = ?", o.Profile)
	}
	add(f.Before != 0, "seq < ?", f.Before)
	add(f.After != 0, "seq > ?", f.After)
	// It is read from the newest row on, up to the first that ended before.
	add(!f.Since.IsZero(), "seq > coalesce((SELECT seq FROM runs WHERE ended < ? ORDER BY seq DESC LIMIT 1), 0)", f.Since.UnixMilli())
	if all == nil {
		return "", nil
	}
	return " WHERE " + strings.Join(all, " AND "), values
}

// Find returns the rows whose ID begins with prefix, the newest first, at most limit.
func (t Runs) Find(ctx context.Context, prefix string, limit int) ([]*Run, error) {
	return collect(ctx, t.store.stateFile, scanRun, "SELECT seq, "+runColumns+" FROM runs WHERE id >= ? AND id < ? ORDER BY seq DESC LIMIT ?", prefix, prefix+"\x7f", limit)
}

// Stamp returns a text that differs after each row and each end of a run: of an owner, or of
// all for nil.
func (t Runs) Stamp(ctx context.Context, owner *RunOwner) (string, error) {
	where, values := RunFilter{Owner: owner}.where()
	return text(ctx, t.store, "SELECT CAST(coalesce(max(seq), 0) AS TEXT) FROM runs"+where, values...)
}

// Interrupt gives the runs of processes that have ended the outcome [Interrupted]. In a
// shared database it asks for the servers that are gone instead of calling alive.
func (t Runs) Interrupt(ctx context.Context, alive func(pid int) bool) error {
	if t.store.Shared() {
		_, err := t.store.execute(ctx, "runs", interruptRuns)
		return err
	}
	pids, err := collect(ctx, t.store.stateFile, scanOne[int], "SELECT DISTINCT pid FROM runs WHERE outcome = 'running'")
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if alive(pid) {
			continue
		}
		err = errors.Join(err, t.store.write(ctx, "runs", func(tx *transaction) error {
			_, err := tx.Exec("UPDATE runs SET outcome = ? WHERE outcome = 'running' AND pid = ?", Interrupted, pid)
			return err
		}))
	}
	return err
}
