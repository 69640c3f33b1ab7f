package store

import (
	"context"
	"errors"
	"time"
)

// An Item is a small state that the servers of a database share, such as that of a task.
type Item struct {
	Key   string
	Owner string // its principal, which the caller checks
	// Instance is the server that works on it ([Store.Instance]); 0 is none.
	Instance int
	// Version grows with each write; 0 is an item that was not written yet.
	Version int64
	Expires time.Time // to the millisecond; zero is never
	Body    []byte
}

// ErrChanged is returned for an item that somebody else has written, or removed, since it
// was read.
var ErrChanged = errors.New("it was changed meanwhile")

// Items are the items of one kind. An item that has expired is not found.
type Items struct {
	store *Store
	kind  string
}

// NewItems returns the items of a kind in a store. It opens nothing.
func NewItems(s *Store, kind string) Items { return Items{s, kind} }

const (
	itemColumns = "key, owner, instance, version, expires, body"
	isCurrent   = "(items.expires = 0 OR items.expires > " + nowMS + ")"
)

// Get returns the item of a key; nil without one.
func (t Items) Get(ctx context.Context, key string) (*Item, error) {
	return one(t.list(ctx, " AND key = ?", key))
}

// List returns all items, the oldest first.
func (t Items) List(ctx context.Context) ([]*Item, error) { return t.list(ctx, "") }

// Lost returns the items whose server is gone.
func (t Items) Lost(ctx context.Context) ([]*Item, error) {
	return t.list(ctx, " AND instance <> 0 AND instance NOT IN (SELECT n FROM instances)")
}

func (t Items) list(ctx context.Context, condition string, values ...any) ([]*Item, error) {
	if err := makeItems(ctx, t.store.stateFile); err != nil {
		return nil, err
	}
	return collect(ctx, t.store.stateFile, scanItem, "SELECT "+itemColumns+" FROM items WHERE kind = ? AND "+isCurrent+condition+" ORDER BY rowid", append([]any{t.kind}, values...)...)
}

func scanItem(row scanner) (*Item, error) {
	var i Item
	var expires int64
	err := row.Scan(&i.Key, &i.Owner, &i.Instance, &i.Version, &expires, &i.Body)
	if expires != 0 {
		i.Expires = time.UnixMilli(expires)
	}
	return &i, err
}

// Put writes an item, if it has its Version in the database still, and gives it the next
// one. Else the error is [ErrChanged].
func (t Items) Put(ctx context.Context, i *Item) error {
	var expires int64
	if !i.Expires.IsZero() {
		expires = i.Expires.UnixMilli()
	}
	statement := "UPDATE items SET owner = ?3, instance = ?4, version = version + 1, expires = ?5, body = ?6 WHERE kind = ?1 AND key = ?2 AND " + isCurrent + " AND version = ?7 RETURNING version"
	values := []any{t.kind, i.Key, i.Owner, i.Instance, expires, append([]byte{}, i.Body...), i.Version}
	if i.Version == 0 {
		statement = `INSERT INTO items (kind, key, owner, instance, version, expires, body) VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6)
			ON CONFLICT (kind, key) DO UPDATE SET owner = ?3, instance = ?4, version = items.version + 1, expires = ?5, body = ?6 WHERE NOT ` + isCurrent + " RETURNING version"
		values = values[:6]
	}
	version, err := changeItem(ctx, t.store, scanOne[int64], statement, values...)
	if err == nil && version == 0 {
		return ErrChanged
	}
	if err == nil {
		i.Version = version
	}
	return err
}

// Take removes the item of a key, and returns it: of all callers one gets it, the others
// nil.
func (t Items) Take(ctx context.Context, key string) (*Item, error) {
	return changeItem(ctx, t.store, scanItem, "DELETE FROM items WHERE kind = ? AND key = ? AND "+isCurrent+" RETURNING "+itemColumns, t.kind, key)
}

// changeItem runs a statement that changes an item, and returns its row; zero without one.
func changeItem[T any](ctx context.Context, s *Store, scan func(scanner) (T, error), statement string, values ...any) (row T, err error) {
	if err := makeItems(ctx, s.stateFile); err != nil {
		return row, err
	}
	err = s.transact(ctx, Durable, "", func(tx *transaction) error {
		row, err = one(selectIn(tx, scan, statement, values...))
		return err
	})
	return row, err
}

// makeItems makes the tables of items in a file that has none yet.
func makeItems(ctx context.Context, s *stateFile) error {
	if s.Shared() {
		return nil
	}
	db, err := s.connected()
	if err != nil || db.items.Load() {
		return err
	}
	err = s.write(ctx, "", func(tx *transaction) error {
		_, err := tx.Exec(itemsSchema)
		return err
	})
	db.items.Store(err == nil)
	return err
}
