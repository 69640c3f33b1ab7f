package seal

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/server/store"
)

// The names of those who decide, beside other people of the configuration.
const (
	Person  = "local"
	Script  = "script"
	Program = "program" // states whom it has authenticated by other means
)

// An Agent holds a private key that a passphrase has unlocked, until the process ends.
type Agent struct {
	key atomic.Pointer[ed25519.PrivateKey]
}

// Unlock has the agent sign with a key from now on.
func (a *Agent) Unlock(key ed25519.PrivateKey) { a.key.Store(&key) }

type agentKey struct{}

// NewContext returns a context whose decisions an agent signs.
func NewContext(ctx context.Context, a *Agent) context.Context {
	return context.WithValue(ctx, agentKey{}, a)
}

// ErrLocked is returned for a decision whose context has no proof of the person.
var ErrLocked = errors.New("this is a decision of the person, and needs their passphrase (policy.passphrase): they make it in a terminal of their own, or on the page")

// nonceSize is the size of the random number that begins a signature. It names one
// decision among equal ones.
const nonceSize = 16

// public returns the key that verifies the decisions of somebody; nil is nobody.
func (k *Key) public(name string) ed25519.PublicKey {
	if public := k.people[name]; public != nil || name != Person && name != Program {
		return public
	}
	return k.own.Public().(ed25519.PublicKey)
}

// Sign returns the signature of a decision, of the first of some people who can sign. The
// error is [ErrLocked] if nobody can.
func (k *Key) Sign(ctx context.Context, who []string, parts ...string) ([]byte, error) {
	if _, err := k.load(); err != nil {
		return nil, err
	}
	private := []ed25519.PrivateKey{k.own}
	if a, _ := ctx.Value(agentKey{}).(*Agent); a != nil && a.key.Load() != nil {
		private = append(private, *a.key.Load())
	}
	for _, name := range who {
		for _, key := range private {
			if public := k.public(name); public != nil && public.Equal(key.Public()) {
				nonce := make([]byte, nonceSize)
				_, _ = rand.Read(nonce) // which never fails
				return append(nonce, ed25519.Sign(key, sum(nonce, parts))...), nil
			}
		}
	}
	return nil, ErrLocked
}

// Signed reports whether a signature is of a decision of one of some people, and was not
// withdrawn.
func (k *Key) Signed(who []string, signature []byte, parts ...string) bool {
	if _, err := k.load(); err != nil || len(signature) != nonceSize+ed25519.SignatureSize || k.isWithdrawn(signature) {
		return false
	}
	text := sum(signature[:nonceSize], parts)
	return slices.ContainsFunc(who, func(name string) bool {
		public := k.public(name)
		id := string(public) + string(signature) + string(text)
		if _, verified := k.verified.Load(id); verified {
			return true
		}
		if public == nil || !ed25519.Verify(public, text, signature[nonceSize:]) {
			return false
		}
		k.verified.Store(id, nil)
		return true
	})
}

// ID identifies the keys of all people; "" is none.
func (k *Key) ID() string {
	if len(k.people) == 0 {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%x", k.people)) // a map is printed in order
	return hex.EncodeToString(sum[:8])
}

// PersonID identifies the key of the [Person]; "" is that of the file.
func (k *Key) PersonID() string { return hex.EncodeToString(k.people[Person]) }

// withdrawals returns the folder whose files withdraw signatures. It lies beside the store:
// who restores that alone undoes none.
func (k *Key) withdrawals() string { return filepath.Join(filepath.Dir(k.file), "withdrawn") }

// withdrawn is the kind of the items that withdraw signatures of a shared key.
const withdrawn = "withdrawn"

func (k *Key) isWithdrawn(signature []byte) bool {
	nonce := hex.EncodeToString(signature[:nonceSize])
	if _, known := k.withdrawn.Load(nonce); known {
		return true
	}
	if k.shared != nil {
		found, err := store.NewItems(k.shared, withdrawn).Get(context.Background(), nonce)
		if found != nil {
			k.withdrawn.Store(nonce, nil)
		}
		return found != nil || err != nil
	}
	if _, err := os.Lstat(filepath.Join(k.withdrawals(), nonce)); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	k.withdrawn.Store(nonce, nil) // also if the file goes
	return true
}

// Withdraw ends a decision: its signature counts in no process any more. After the given
// time, at which the decision would have ended, that is forgotten; zero is never. Others
// than signatures are ignored.
func (k *Key) Withdraw(signature []byte, ends time.Time) error {
	if len(signature) != nonceSize+ed25519.SignatureSize {
		return nil
	}
	dir, nonce := k.withdrawals(), hex.EncodeToString(signature[:nonceSize])
	k.withdrawn.Store(nonce, nil)
	if k.shared != nil {
		if err := store.NewItems(k.shared, withdrawn).Put(context.Background(), &store.Item{Key: nonce, Expires: ends}); !errors.Is(err, store.ErrChanged) { // by another server
			return err
		}
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	old, _ := os.ReadDir(dir) // a rest does no harm
	for _, entry := range old {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(time.Now().Add(-time.Hour)) { // not one that is being made
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
	if ends.IsZero() {
		ends = time.Now().AddDate(100, 0, 0)
	}
	file := filepath.Join(dir, nonce)
	return errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, ends, ends))
}
