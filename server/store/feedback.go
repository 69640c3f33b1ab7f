package store

import (
	"context"
	"time"
)

// A SkillID names a skill in the store: a name alone could be claimed by another one.
type SkillID struct {
	Name   string // qualified
	Origin string // as [github.com/skillsmcp/skills-mcp/skills.Origin.String] writes it
}

// A Rating is somebody's judgement of a skill.
type Rating struct {
	Principal string // the kind of who rated
	OK        bool
	Note      string
	At        time.Time
}

// maxRatings is the number of ratings of one skill by one kind of principal that are
// stored. A model cannot push out those of the person.
const maxRatings = 20

// Rate adds a rating of a skill, in place of the oldest one of too many.
func (s *Store) Rate(ctx context.Context, id SkillID, r Rating) error {
	return s.write(ctx, "feedback", func(tx *transaction) error {
		_, err := tx.Exec("INSERT INTO feedback (skill, origin, principal, ok, note, at) VALUES (?, ?, ?, ?, ?, ?)",
			id.Name, id.Origin, r.Principal, r.OK, r.Note, r.At.UnixMilli())
		if err != nil {
			return err
		}
		_, err = tx.Exec(`DELETE FROM feedback WHERE skill = ?1 AND origin = ?2 AND principal = ?3 AND seq NOT IN
			(SELECT seq FROM feedback WHERE skill = ?1 AND origin = ?2 AND principal = ?3 ORDER BY seq DESC LIMIT ?4)`, id.Name, id.Origin, r.Principal, maxRatings)
		return err
	})
}

// Ratings returns the ratings of a skill, the newest first.
func (s *Store) Ratings(ctx context.Context, id SkillID) ([]Rating, error) {
	return collect(ctx, s.stateFile, func(rows scanner) (r Rating, err error) {
		var at int64
		err = rows.Scan(&r.Principal, &r.OK, &r.Note, &at)
		r.At = time.UnixMilli(at)
		return r, err
	}, "SELECT principal, ok, note, at FROM feedback WHERE skill = ? AND origin = ? ORDER BY seq DESC", id.Name, id.Origin)
}

// An End is the end of a recorded run of a skill.
type End struct {
	At      time.Time // of its start
	Outcome string
	Exit    *int   // nil: the command did not end by itself
	Error   string // the message; "" is none
	Subject string // ID of the principal
}

// Ends returns the ends of the last runs of a skill, the newest first, at most limit. Runs
// that were refused or have not ended are not among them. Of the runs under its name, it
// reads twice as many: another skill of the name may have all of them.
func (s *Store) Ends(ctx context.Context, id SkillID, limit int) ([]End, error) {
	return collect(ctx, s.stateFile, func(rows scanner) (e End, err error) {
		var started int64
		err = rows.Scan(&started, &e.Outcome, &e.Exit, &e.Error, &e.Subject)
		e.At = time.UnixMilli(started)
		return e, err
	}, `SELECT started, outcome, exit, message, subject FROM (SELECT * FROM runs WHERE skill = ? ORDER BY seq DESC LIMIT ?) AS last
		WHERE origin = ? AND action = 'skill' AND outcome IN ('ok', 'error', 'failed', 'interrupted') ORDER BY seq DESC LIMIT ?`,
		id.Name, 2*limit, id.Origin, limit)
}
