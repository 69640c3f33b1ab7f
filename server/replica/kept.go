package replica

import (
	"context"
	"errors"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// sessionAge is the time for which the session of a server that has ended can be resumed, from
// its beginning.
const sessionAge = 7 * 24 * time.Hour

// Sessions are the rows of legacy clients' sessions.
type Sessions struct {
	set  *Set
	rows store.Items
}

// Sessions returns the rows of sessions.
func (s *Set) Sessions() Sessions { return Sessions{s, store.NewItems(s.store, "session")} }

// Keep stores a session of this server.
func (t Sessions) Keep(ctx context.Context, id string, owner identity.Key, body []byte) error {
	return t.rows.Put(ctx, &store.Item{Key: id, Owner: string(owner), Instance: t.set.number, Expires: time.Now().Add(sessionAge), Body: body})
}

// Take makes an owner's session one of this server, and returns it, if its own server has
// ended or is unreachable. The home is that server otherwise. Both are empty without a
// session of the owner.
func (t Sessions) Take(ctx context.Context, id string, owner identity.Key, unreachable string) (body []byte, home string, err error) {
	for {
		row, err := t.rows.Get(ctx, id)
		if err != nil || row == nil || row.Owner != string(owner) || row.Instance == t.set.number {
			return nil, "", err
		}
		if name := nameOf(row.Instance); name != unreachable && t.set.alive(ctx, row.Instance) {
			return nil, name, nil
		}
		row.Instance = t.set.number
		if err := t.rows.Put(ctx, row); !errors.Is(err, store.ErrChanged) {
			return row.Body, "", err
		}
	}
}

// Drop removes a session that has ended here.
func (t Sessions) Drop(ctx context.Context, id string) {
	row, err := t.rows.Get(ctx, id)
	if err == nil && row != nil && row.Instance == t.set.number { // no other server has resumed it
		_, err = t.rows.Take(ctx, id)
	}
	if err != nil {
		t.set.log.Warn("a session that has ended stays in the store", "error", err)
	}
}

// Tasks are the rows of tasks. Their instance is 0 when they have ended.
type Tasks struct {
	set  *Set
	rows store.Items
}

// Tasks returns the rows of tasks.
func (s *Set) Tasks() Tasks { return Tasks{s, store.NewItems(s.store, "task")} }

// Keep stores a task of this server.
func (t Tasks) Keep(ctx context.Context, id string, owner identity.Key, expires time.Time, body []byte) error {
	return t.rows.Put(ctx, &store.Item{Key: id, Owner: string(owner), Instance: t.set.number, Expires: expires, Body: body})
}

// End stores the end of a task of this server. It reports false if another server has ended
// it.
func (t Tasks) End(ctx context.Context, id string, expires time.Time, body []byte) (counts bool, err error) {
	row, err := t.rows.Get(ctx, id)
	if err != nil || row == nil {
		return true, err
	}
	if row.Instance == t.set.number {
		row.Instance, row.Expires, row.Body = 0, expires, body
		if err = t.rows.Put(ctx, row); err == nil {
			return true, nil
		}
	}
	if err == nil || errors.Is(err, store.ErrChanged) {
		return false, nil
	}
	return true, err
}

// Find returns an owner's task, and whether its server works on it; none is nil. One whose
// server has ended is ended first, with the body that failed returns.
func (t Tasks) Find(ctx context.Context, id string, owner identity.Key, expires time.Time, failed func(body []byte) ([]byte, error)) (body []byte, working bool, err error) {
	for {
		row, err := t.rows.Get(ctx, id)
		switch {
		case err != nil || row == nil || row.Owner != string(owner):
			return nil, false, err
		case row.Instance == 0:
			return row.Body, false, nil
		case row.Instance == t.set.number: // which has forgotten it
			return nil, false, nil
		case t.set.alive(ctx, row.Instance):
			return row.Body, true, nil
		}
		row.Instance, row.Expires = 0, expires
		if row.Body, err = failed(row.Body); err != nil {
			return nil, false, err
		}
		if err := t.rows.Put(ctx, row); !errors.Is(err, store.ErrChanged) {
			return row.Body, false, err
		}
	}
}
