package approval

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/store"
)

// A sealer signs the rows of approvals with a key that only the person's own programs
// can read: a row that is written into the store by hand does not count. The key is read,
// or made, at the first use.
type sealer struct {
	file string

	mu  sync.Mutex
	key []byte // nil until the first use
}

// keySize is the size of a key, in bytes.
const keySize = 32

// seal sets the MAC of a row.
func (s *sealer) seal(row *store.Approval) error {
	key, err := s.load()
	if err != nil {
		return err
	}
	row.MAC = sign(key, row)
	return nil
}

// valid reports whether a row has the MAC that seal sets.
func (s *sealer) valid(row *store.Approval) bool {
	key, err := s.load()
	return err == nil && hmac.Equal(row.MAC, sign(key, row))
}

// sign returns the MAC of a row.
func sign(key []byte, row *store.Approval) []byte {
	mac := hmac.New(sha256.New, key)
	writeParts(mac.Write, row.ID, row.Owner, row.Subject, row.State, strconv.FormatInt(row.Expires.Unix(), 10), string(row.Content))
	return mac.Sum(nil)
}

// writeParts writes texts to a hash, each with its length, so that no two lists are the
// same bytes.
func writeParts(write func([]byte) (int, error), parts ...string) {
	for _, part := range parts {
		_, _ = write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // a hash never fails
		_, _ = write([]byte(part))
	}
}

// load returns the key.
func (s *sealer) load() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	key, err := readKey(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(s.file); err == nil || errors.Is(err, fs.ErrExist) {
			key, err = readKey(s.file)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the key of approvals: %w", err)
	}
	s.key = key
	return key, nil
}

// readKey reads a key that nobody else can read.
func readKey(file string) ([]byte, error) {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file; remove it", file)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("other users can read %s, so they could approve; remove it, which ends the approvals that were given", file)
	}
	key, err := os.ReadFile(file)
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("%s does not hold a key; remove it, which ends the approvals that were given", file)
	}
	return key, err
}

// makeKey makes a key. The file appears whole, and never replaces that of another
// process.
func makeKey(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(file), ".key-") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	var key [keySize]byte
	_, _ = rand.Read(key[:]) // which never fails
	_, err = part.Write(key[:])
	if err := errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	return os.Link(part.Name(), file)
}
