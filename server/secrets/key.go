package secrets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/gofrs/flock"
	"github.com/zalando/go-keyring"

	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// A Keyring keeps a text for the person who is logged in. Its methods return after a few
// seconds.
type Keyring interface {
	// Get returns the text, or an error if there is none, or no keyring.
	Get() (string, error)
	Set(text string) error
}

// SystemKeyring returns the keyring of macOS, of Windows, or of a desktop with the Secret
// Service, for the secrets in a folder.
func SystemKeyring(dir string) Keyring { return systemKeyring{dir} }

type systemKeyring struct{ dir string }

const keyringService = "skills-mcp"

// keyringTime bounds an access: a keyring that is locked may wait for its person.
const keyringTime = 10 * time.Second

func (k systemKeyring) Get() (text string, err error) {
	err = bounded(func() (err error) {
		text, err = keyring.Get(keyringService, k.dir)
		return err
	})
	if err != nil {
		return "", err
	}
	return text, nil
}

func (k systemKeyring) Set(text string) error {
	return bounded(func() error { return keyring.Set(keyringService, k.dir, text) })
}

// bounded calls a function that cannot be cancelled, and does not wait for it to the end.
func bounded(call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-time.After(keyringTime):
		return fmt.Errorf("it does not answer within %s", keyringTime)
	}
}

// extension ends the names of sealed files.
const extension = ".age"

// A keyHolder has the key of the files in a folder.
type keyHolder struct {
	dir     string
	keyring Keyring // nil is none
}

// keyFile is the path of the key where no keyring has it.
func (k *keyHolder) keyFile() string { return filepath.Join(k.dir, "key") }

// place names the place of the key, for people.
func (k *keyHolder) place() string {
	if _, err := os.Lstat(k.keyFile()); err == nil || k.keyring == nil {
		return k.keyFile()
	}
	return "the system's keyring"
}

// key returns the key of the files, and makes it where there is neither one nor a file.
func (k *keyHolder) key(create bool) (*age.X25519Identity, error) {
	if create { // of processes that set their first secret at once, one makes the key
		lock := flock.New(filepath.Join(k.dir, "lock"))
		if err := errors.Join(os.MkdirAll(k.dir, 0o700), lock.Lock()); err != nil {
			return nil, err
		}
		defer lock.Close()
	}
	key, err := k.readKey()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	missing := errors.New("no keyring has it")
	if k.keyring != nil {
		var text string
		if text, missing = k.keyring.Get(); missing == nil {
			return age.ParseX25519Identity(text)
		}
	}
	if others, _ := filepath.Glob(filepath.Join(k.dir, "*"+extension)); len(others) > 0 || !create {
		return nil, fmt.Errorf("the key of your secrets cannot be had: %w; unlock the system's keyring, or remove %s and set your secrets again", missing, k.dir)
	}
	return k.makeKey()
}

// makeKey keeps a new key in the keyring, or else in a file.
func (k *keyHolder) makeKey() (*age.X25519Identity, error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	if k.keyring != nil && k.keyring.Set(key.String()) == nil {
		if text, err := k.keyring.Get(); err == nil && text == key.String() {
			return key, nil
		}
	}
	return key, atomicfile.Create(k.keyFile(), []byte(key.String()+"\n"))
}

// readKey reads the key's file, which nobody else can read.
func (k *keyHolder) readKey() (*age.X25519Identity, error) {
	info, err := os.Lstat(k.keyFile())
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("other users can read %s, and so your secrets; run chmod 600 on it, and replace the secrets where they were issued", k.keyFile())
	}
	text, err := os.ReadFile(k.keyFile())
	if err != nil {
		return nil, err
	}
	key, err := age.ParseX25519Identity(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s holds no key; remove %s, and set your secrets again", k.keyFile(), k.dir)
	}
	return key, nil
}
