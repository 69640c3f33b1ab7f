// Package secrets keeps the values of secrets by owner and name, each in a file that age
// seals, and makes the sentinels that stand for them in sandboxes.
//
// The key of the files is in the system's keyring where there is one, else in a file beside
// them. Keyrings bound a value at 2 KB, and list nothing, so the values themselves are in
// files.
//
// Start with [New].
package secrets

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// ErrNone is returned for a secret that has no value.
var ErrNone = errors.New("there is no such secret")

// A Store keeps secrets in a folder. It may be used concurrently, also by several processes.
type Store struct {
	dir   string
	keys  keyHolder
	shell []string
}

// Options configure a [Store]. The zero value is usable.
type Options struct {
	// Keyring keeps the key of the files; nil is none.
	Keyring Keyring
	// Shell is the program, with its options, that a command of [Store.SetCommand] is passed
	// to; nil is /bin/sh -c.
	Shell []string
}

// New returns the secrets in a folder, which it makes when the first one is set. Options may
// be nil.
func New(dir string, options *Options) *Store {
	var o Options
	if options != nil {
		o = *options
	}
	if o.Shell == nil {
		o.Shell = []string{"/bin/sh", "-c"}
	}
	return &Store{dir, keyHolder{dir, o.Keyring}, o.Shell}
}

// Place names the place of the key, for people.
func (s *Store) Place() string { return s.keys.place() }

// Owner returns the owner of a principal's secrets: a named one has its own, and everybody
// else those of the person whose program this is.
func Owner(p identity.Principal) string {
	if p.Named() {
		return string(p.Kind) + "/" + p.ID
	}
	return ""
}

// An Entry describes a secret without its value.
type Entry struct {
	Owner   string    `json:"owner,omitempty"`
	Name    string    `json:"name"`
	Command string    `json:"command,omitempty"` // prints the value; "" where that is kept
	Set     time.Time `json:"set"`
	Damaged string    `json:"-"` // the path of a file that cannot be read, whose secret is not known
}

// sealed is the content of a file.
type sealed struct {
	Entry
	Value []byte `json:"value,omitempty"`
}

var validName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// CheckName returns an error for a name that no secret has.
func CheckName(name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("%.70q is no name of a secret; write letters, digits and _, such as GITHUB_TOKEN", name)
	}
	return nil
}

// Set keeps a value, in place of an earlier one.
func (s *Store) Set(owner, name, value string) error {
	if err := Check(value); err != nil {
		return err
	}
	return s.write(&sealed{Entry{Owner: owner, Name: name, Set: time.Now()}, []byte(value)})
}

// SetCommand keeps a command that prints the value at each use, in place of an earlier value.
func (s *Store) SetCommand(owner, name, command string) error {
	if strings.TrimSpace(command) == "" || len(command) > maxCommand {
		return fmt.Errorf("a command has 1 to %d characters", maxCommand)
	}
	return s.write(&sealed{Entry{Owner: owner, Name: name, Command: command, Set: time.Now()}, nil})
}

// Has reports whether a secret was set.
func (s *Store) Has(owner, name string) bool {
	_, err := os.Stat(s.file(owner, name))
	return err == nil
}

// Value returns the value of a secret, or [ErrNone]. With kept it runs no command, and
// returns "" for a value that one prints.
func (s *Store) Value(ctx context.Context, owner, name string, kept bool) (string, error) {
	found, err := s.read(s.file(owner, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ErrNone
	case err != nil: // models see it, and no path of the host
		return "", errors.New(strings.ReplaceAll(err.Error(), s.dir, "…/"+filepath.Base(s.dir)))
	case found.Command == "" || kept:
		return string(found.Value), nil
	}
	value, err := runCommand(ctx, s.shell, found.Command)
	if err == nil {
		err = Check(value)
	}
	if err != nil {
		return "", fmt.Errorf("the command of the secret %s: %w", name, err)
	}
	return value, nil
}

// List returns the secrets of all owners, sorted by owner and name.
func (s *Store) List() ([]Entry, error) {
	files, err := filepath.Glob(filepath.Join(s.dir, "*"+extension))
	if err == nil && len(files) > 0 { // without the key, all would count as damaged
		_, err = s.keys.key(false)
	}
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, file := range files {
		found, err := s.read(file)
		if err != nil {
			found = &sealed{Entry: Entry{Name: "(unknown)", Damaged: file}}
		}
		all = append(all, found.Entry)
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Owner, b.Owner), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

// Remove removes a secret. The error is [ErrNone] where there is none.
func (s *Store) Remove(owner, name string) error {
	err := os.Remove(s.file(owner, name))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNone
	}
	return err
}

// file returns the path of a secret's file, whose name tells nobody the secret's.
func (s *Store) file(owner, name string) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + name))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+extension)
}

// maxFile bounds a sealed file, in bytes.
const maxFile = 4 * maxValue

func (s *Store) read(file string) (*sealed, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key, err := s.keys.key(false)
	if err != nil {
		return nil, err
	}
	var found sealed
	plain, err := age.Decrypt(bytes.NewReader(data), key)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(plain, maxFile)).Decode(&found)
	}
	if err == nil && s.file(found.Owner, found.Name) != file {
		err = errors.New("it is another one")
	}
	if err != nil {
		return nil, fmt.Errorf("a secret cannot be read with the key of %s: %w; remove %s, and set it again", s.Place(), err, file)
	}
	return &found, nil
}

func (s *Store) write(content *sealed) error {
	if err := CheckName(content.Name); err != nil {
		return err
	}
	key, err := s.keys.key(true)
	if err != nil {
		return err
	}
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.file(content.Owner, content.Name), func(w io.Writer) error {
		sealer, err := age.Encrypt(w, key.Recipient())
		if err == nil {
			_, err = sealer.Write(text)
		}
		if err == nil {
			err = sealer.Close()
		}
		return err
	})
}
