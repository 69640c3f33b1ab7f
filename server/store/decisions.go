package store

import (
	"context"
	"encoding/json"
	"time"
)

// A Decision is a row about one thing, of which its kind and key are the name. The store
// reads none of the other fields: package seal says which of them count.
type Decision struct {
	Kind, Key string
	Owner     string    // the principal that it is for
	About     string    // such as a skill; for filters
	State     string    // of those of its kind
	Expires   time.Time // to the second; zero is never
	Body      []byte    // the part that people sign
	Notes     []byte    // the part that the program changes by itself
	Proofs    [][]byte  // signatures of the body
	MAC       []byte    // of all fields above
}

// A DecisionFilter selects decisions. Zero fields select all.
type DecisionFilter struct{ Key, About, State string }

// Decisions returns the decisions of a kind, the newest first.
func (s *Store) Decisions(ctx context.Context, kind string, f DecisionFilter) ([]Decision, error) {
	query, values := f.query(kind)
	return collect(ctx, s.stateFile, scanDecision, query, values...)
}

// query returns the statement of a filter, and its values.
func (f DecisionFilter) query(kind string) (query string, values []any) {
	query, values = "SELECT kind, key, owner, about, state, expires, body, notes, proofs, mac FROM decisions WHERE kind = ?", []any{kind}
	for _, field := range []struct{ name, value string }{{"key", f.Key}, {"about", f.About}, {"state", f.State}} {
		if field.value != "" {
			query, values = query+" AND "+field.name+" = ?", append(values, field.value)
		}
	}
	return query + " ORDER BY rowid DESC", values
}

func scanDecision(row scanner) (d Decision, err error) {
	var expires int64
	var proofs []byte
	if err := row.Scan(&d.Kind, &d.Key, &d.Owner, &d.About, &d.State, &expires, &d.Body, &d.Notes, &proofs, &d.MAC); err != nil {
		return d, err
	}
	if expires != 0 {
		d.Expires = time.Unix(expires, 0)
	}
	_ = json.Unmarshal(proofs, &d.Proofs) // others have no proofs
	return d, nil
}

// DecisionKeys returns the keys of the decisions of a kind.
func (s *Store) DecisionKeys(ctx context.Context, kind string) (map[string]bool, error) {
	keys, err := collect(ctx, s.stateFile, scanOne[string], "SELECT key FROM decisions WHERE kind = ?", kind)
	all := make(map[string]bool, len(keys))
	for _, key := range keys {
		all[key] = true
	}
	return all, err
}

// ChangeDecisions runs a function that changes decisions of a kind, in one transaction. Its
// error changes nothing. It may run more than once, of which one counts.
func (s *Store) ChangeDecisions(ctx context.Context, care Care, kind string, change func(*Decisions) error) error {
	return s.transact(ctx, care, "decisions "+kind, func(tx *transaction) error { return change(&Decisions{tx, kind}) })
}

// Decisions are the decisions of a kind in a transaction.
type Decisions struct {
	tx   *transaction
	kind string
}

// Select returns decisions, the newest first.
func (d *Decisions) Select(f DecisionFilter) ([]Decision, error) {
	query, values := f.query(d.kind)
	return selectIn(d.tx, scanDecision, query, values...)
}

// Put writes a decision in place of the one with its key. That is no deletion for the
// triggers, and the row keeps its place in the order.
func (d *Decisions) Put(one Decision) error {
	proofs, err := json.Marshal(one.Proofs)
	if err != nil {
		return err
	}
	var expires int64
	if !one.Expires.IsZero() {
		expires = one.Expires.Unix()
	}
	_, err = d.tx.Exec(`INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET owner = excluded.owner, about = excluded.about,
		state = excluded.state, expires = excluded.expires, body = excluded.body, notes = excluded.notes, proofs = excluded.proofs, mac = excluded.mac`,
		d.kind, one.Key, one.Owner, one.About, one.State, expires, append([]byte{}, one.Body...), append([]byte{}, one.Notes...), string(proofs), append([]byte{}, one.MAC...))
	return err
}

// Remove removes the decision of a key.
func (d *Decisions) Remove(key string) error {
	_, err := d.tx.Exec("DELETE FROM decisions WHERE kind = ? AND key = ?", d.kind, key)
	return err
}

// RemoveExpired removes the decisions that have expired before a time.
func (d *Decisions) RemoveExpired(before time.Time) error {
	_, err := d.tx.Exec("DELETE FROM decisions WHERE kind = ? AND expires > 0 AND expires < ?", d.kind, before.Unix())
	return err
}

// DecisionsStamp returns a text that differs after each change of a decision of a kind, and
// after the end of one that expires. Of two changes that leave its state the same it misses
// those of others than the given state. It is of the
// decisions of an owner, and of those whose name begins with a prefix; all for "" and "".
func (s *Store) DecisionsStamp(ctx context.Context, kind, state, owner, prefix string) (string, error) {
	return text(ctx, s, `WITH d AS (SELECT rowid AS id, * FROM decisions WHERE kind = ?1 AND (owner = ?2 OR ?5 <> '' AND substr(owner, 1, length(?5)) = ?5 OR ?2 = '' AND ?5 = ''))
		SELECT coalesce(max(id), 0) || ' ' ||
		(SELECT coalesce(string_agg(n, ',' ORDER BY n), '') FROM (SELECT state || (expires > ?3) || count(*) AS n FROM d GROUP BY state, expires > ?3) AS states) || ' ' ||
		(SELECT coalesce(string_agg(hex(mac), ',' ORDER BY id), '') FROM d WHERE state = ?4) FROM d`, kind, owner, time.Now().Unix(), state, prefix)
}
