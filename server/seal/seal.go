// Package seal signs the decisions of people (Ed25519), so that one which is written into
// the store by hand, or which was withdrawn, does not count. What the program notes by
// itself is sealed with a key that the programs of this user can read.
//
// Start with [New], whose [Key] signs for those whom a context's [Agent] has proved.
package seal

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// keySize is the size of a key, in bytes.
const keySize = 32

// People are the public keys of a configuration, by name.
type People map[string]ed25519.PublicKey

// A Key seals and signs texts. Its file is read, or made, at the first use. It may be used
// concurrently.
type Key struct {
	file   string
	shared *store.Store // has the key and the withdrawals in place of files; nil of a file
	people People

	mu  sync.Mutex
	key []byte             // nil until the first use; guarded by mu
	own ed25519.PrivateKey // made of key; written once, before key

	verified  sync.Map // of decisions, with their keys and signatures
	withdrawn sync.Map // of nonces
}

// New returns the key in a file. It opens nothing. A [Person] without a public key signs
// with that of the file.
func New(file string, people People) *Key { return &Key{file: file, people: people} }

// NewShared returns the key in a database that servers on several machines share: they
// accept each other's decisions. Who can write there can decide, as who can write the file
// of [New] can, but for people with a public key. It reads nothing.
func NewShared(s *store.Store, people People) *Key { return &Key{shared: s, people: people} }

// Sum returns the MAC of a list of texts.
func (k *Key) Sum(parts ...string) ([]byte, error) {
	key, err := k.load()
	if err != nil {
		return nil, err
	}
	return sum(key, parts), nil
}

// Valid reports whether mac is the MAC of a list of texts.
func (k *Key) Valid(mac []byte, parts ...string) bool {
	key, err := k.load()
	return err == nil && hmac.Equal(mac, sum(key, parts))
}

// sum writes each text with its length, so that no two lists are the same bytes.
func sum(key []byte, parts []string) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // a hash never fails
		mac.Write([]byte(part))
	}
	return mac.Sum(nil)
}

// load returns the key.
func (k *Key) load() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key != nil {
		return k.key, nil
	}
	key, err := k.read()
	if err != nil {
		return nil, fmt.Errorf("the key of decisions: %w", err)
	}
	k.key, k.own = key, ed25519.NewKeyFromSeed(sum(key, []string{"decisions"}))
	return key, nil
}

// read returns the key of the database or the file, which it makes if there is none.
func (k *Key) read() ([]byte, error) {
	if k.shared != nil {
		return readShared(k.shared)
	}
	key, err := read(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = generate(k.file); err == nil || errors.Is(err, fs.ErrExist) {
			key, err = read(k.file)
		}
	}
	return key, err
}

// readShared reads the key of a database, which the first server makes.
func readShared(s *store.Store) ([]byte, error) {
	ctx, items, made := context.Background(), store.NewItems(s, "seal"), &store.Item{Key: "key", Body: make([]byte, keySize)}
	_, _ = rand.Read(made.Body) // which never fails
	err := items.Put(ctx, made)
	if !errors.Is(err, store.ErrChanged) {
		return made.Body, err
	}
	found, err := items.Get(ctx, made.Key)
	if err == nil && found == nil {
		err = store.ErrChanged // by a person: the next call makes another
	}
	if err != nil {
		return nil, err
	}
	return found.Body, nil
}

// read reads a key that nobody else can read.
func read(file string) ([]byte, error) {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file; remove it", file)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("other users can read %s, so they could decide for you; remove it, which ends what you approved and granted", file)
	}
	key, err := os.ReadFile(file)
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("%s does not hold a key; remove it, which ends what you approved and granted", file)
	}
	return key, err
}

// generate makes a key. It never replaces that of another process.
func generate(file string) error {
	var key [keySize]byte
	_, _ = rand.Read(key[:]) // which never fails
	return atomicfile.Create(file, key[:])
}
