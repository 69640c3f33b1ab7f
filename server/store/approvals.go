package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"
)

// approvalsSchema holds questions to people and their answers. It has no triggers: nothing
// caches approvals.
const approvalsSchema = `
CREATE TABLE approvals (
	id      TEXT PRIMARY KEY,
	owner   TEXT NOT NULL,
	subject TEXT NOT NULL,
	state   TEXT NOT NULL,
	expires INTEGER NOT NULL,
	content BLOB NOT NULL,
	mac     BLOB NOT NULL
);
CREATE INDEX approvals_subject ON approvals (subject, state);
CREATE INDEX approvals_state ON approvals (state, expires);`

// approvalKeys makes equal questions one: of those that wait, each has a key of its own.
const approvalKeys = `
ALTER TABLE approvals ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN key TEXT NOT NULL DEFAULT '';
UPDATE approvals SET key = id;
CREATE UNIQUE INDEX approvals_key ON approvals (key) WHERE state = 'pending';`

// The states of approvals. Only a given one lets a call run.
const (
	ApprovalPending = "pending" // a person has not answered yet
	ApprovalGiven   = "given"
	ApprovalUsed    = "used" // a call has run by it
	ApprovalDenied  = "denied"
	ApprovalRevoked = "revoked" // given, and withdrawn
)

// An Approval is a question to a person, with the answer. The store reads neither its
// content nor its MAC.
type Approval struct {
	ID      string
	Owner   string // the principal that pending ones are counted for
	Subject string // the skill that it is about
	State   string
	Expires time.Time // to the second
	Content []byte
	MAC     []byte // of all the fields above

	// Client and Key are of new ones alone: the client that pending ones are counted for,
	// and the call that they are about.
	Client, Key string
}

// ApprovalLimits bound the pending approvals that have not expired: of one subject or one
// client of an owner, of an owner, and of all.
type ApprovalLimits struct{ Subject, Client, Owner, Total int }

// ErrSameApproval is returned for an approval whose key a pending one has.
var ErrSameApproval = errors.New("the same approval is pending")

// ErrTooManyApprovals is returned for an approval beyond the limits.
var ErrTooManyApprovals = errors.New("too many approvals are pending")

// approvalsKept is the time for which expired approvals are listed.
const approvalsKept = 30 * 24 * time.Hour

const approvalColumns = "id, owner, subject, state, expires, content, mac"

// AddApproval inserts an approval. A pending one is refused with [ErrSameApproval] or,
// beyond the limits, with [ErrTooManyApprovals]. It removes approvals that expired long ago.
func (s *Store) AddApproval(ctx context.Context, a Approval, limits ApprovalLimits) error {
	return s.persist(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		if _, err := tx.Exec("DELETE FROM approvals WHERE expires < ?", now.Add(-approvalsKept).Unix()); err != nil {
			return err
		}
		if a.State == ApprovalPending {
			if _, err := tx.Exec("UPDATE approvals SET key = id WHERE state = ? AND key = ? AND expires <= ?", ApprovalPending, a.Key, now.Unix()); err != nil {
				return err
			}
			var same, subject, client, own, all int
			err := tx.QueryRow(`SELECT count(*), coalesce(sum(key = ?), 0), coalesce(sum(owner = ?), 0), coalesce(sum(owner = ? AND subject = ?), 0),
				coalesce(sum(owner = ? AND client = ?), 0) FROM approvals WHERE state = ? AND expires > ?`,
				a.Key, a.Owner, a.Owner, a.Subject, a.Owner, a.Client, ApprovalPending, now.Unix()).Scan(&all, &same, &own, &subject, &client)
			switch {
			case err != nil:
				return err
			case same > 0:
				return ErrSameApproval
			case subject >= limits.Subject, client >= limits.Client, own >= limits.Owner, all >= limits.Total:
				return ErrTooManyApprovals
			}
		}
		_, err := tx.Exec("INSERT INTO approvals ("+approvalColumns+", client, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			a.ID, a.Owner, a.Subject, a.State, a.Expires.Unix(), a.Content, a.MAC, a.Client, cmp.Or(a.Key, a.ID))
		return err
	})
}

// ReplaceApproval replaces an approval by another of its ID. It reports false, and changes
// nothing, if another process has changed it since it was read.
func (s *Store) ReplaceApproval(ctx context.Context, old, new Approval) (replaced bool, err error) {
	err = s.persist(ctx, func(tx *sql.Tx) error {
		result, err := tx.Exec("UPDATE approvals SET subject = ?, state = ?, expires = ?, content = ?, mac = ? WHERE id = ? AND state = ? AND mac = ?",
			new.Subject, new.State, new.Expires.Unix(), new.Content, new.MAC, old.ID, old.State, old.MAC)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		replaced = n == 1
		return err
	})
	return replaced, err
}

// Approval returns the approval of an ID; found is false if there is none.
func (s *Store) Approval(ctx context.Context, id string) (a Approval, found bool, err error) {
	all, err := s.approvals(ctx, "WHERE id = ?", id)
	if err != nil || len(all) == 0 {
		return Approval{}, false, err
	}
	return all[0], true, nil
}

// Approvals returns the approvals that are about a subject, or all for "", the newest
// first.
func (s *Store) Approvals(ctx context.Context, subject string) ([]Approval, error) {
	if subject == "" {
		return s.approvals(ctx, "ORDER BY rowid DESC")
	}
	return s.approvals(ctx, "WHERE subject = ? ORDER BY rowid DESC", subject)
}

// GivenApprovals returns the given approvals that have not expired, the newest first.
func (s *Store) GivenApprovals(ctx context.Context) ([]Approval, error) {
	return s.approvals(ctx, "WHERE state = ? AND expires > ? ORDER BY rowid DESC", ApprovalGiven, time.Now().Unix())
}

// ApprovalsStamp returns a text that differs after each change of an approval, and after the
// end of a question or an approval that nobody has answered or used.
func (s *Store) ApprovalsStamp(ctx context.Context) (string, error) {
	now := time.Now().Unix()
	return s.text(ctx, `SELECT coalesce(max(rowid), 0) || ' ' ||
		(SELECT coalesce(group_concat(n), '') FROM (SELECT state || (expires > ?) || count(*) AS n FROM approvals GROUP BY state, expires > ?)) || ' ' ||
		(SELECT coalesce(group_concat(hex(mac)), '') FROM approvals WHERE state = ?) FROM approvals`, now, now, ApprovalPending)
}

func (s *Store) approvals(ctx context.Context, where string, args ...any) ([]Approval, error) {
	if !s.Exists() {
		return nil, nil
	}
	rows, err := s.query(ctx, "SELECT "+approvalColumns+" FROM approvals "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Approval
	for rows.Next() {
		var a Approval
		var expires int64
		if err := rows.Scan(&a.ID, &a.Owner, &a.Subject, &a.State, &expires, &a.Content, &a.MAC); err != nil {
			return nil, err
		}
		a.Expires = time.Unix(expires, 0)
		all = append(all, a)
	}
	return all, rows.Err()
}
