package approval

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

const (
	// passphraseScheme begins the hash of a passphrase: SCHEME$ITERATIONS$SALT$KEY.
	passphraseScheme = "pbkdf2-sha256"
	// passphraseRounds is the number of iterations of a new hash, as OWASP recommends.
	passphraseRounds = 600_000
	// minRounds and maxRounds bound those of a hash that is used.
	minRounds, maxRounds = 100_000, 10_000_000
	// minPassphrase is the shortest passphrase, in bytes.
	minPassphrase = 8
)

// Passphrases are the hashes of the passphrases by which people, and scripts of theirs,
// prove who they are. "" proves nobody.
type Passphrases struct {
	Person    string            // of this machine; "" asks for none
	Approvers map[string]string // other people, by name
	Script    string            // its token
}

// Signer returns the person of a name, where "" is the one of this machine, and the hash
// of the passphrase that proves it; "" is none.
func (p Passphrases) Signer(name string) (who Signer, hash string, err error) {
	if name == "" {
		return Local(), p.Person, nil
	}
	if hash = p.Approvers[name]; hash == "" {
		return who, "", wrong("policy.approvers in the configuration names no %q", termtext.Visible(name))
	}
	return Named(name), hash, nil
}

// HashPassphrase returns the hash of a new passphrase, for the configuration.
func HashPassphrase(passphrase string) (string, error) {
	if len(passphrase) < minPassphrase {
		return "", fmt.Errorf("a passphrase has %d characters or more", minPassphrase)
	}
	var salt [16]byte
	_, _ = rand.Read(salt[:]) // which never fails
	key, err := pbkdf2.Key(sha256.New, passphrase, salt[:], passphraseRounds, sha256.Size)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return strings.Join([]string{passphraseScheme, strconv.Itoa(passphraseRounds), encode(salt[:]), encode(key)}, "$"), nil
}

// CheckHash returns an error if a text is not a hash that [HashPassphrase] makes.
func CheckHash(hash string) error {
	_, _, _, err := parseHash(hash)
	return err
}

// IsPassphrase reports whether a text is the passphrase of a hash.
func IsPassphrase(hash, text string) bool {
	rounds, salt, want, err := parseHash(hash)
	if err != nil {
		return false
	}
	got, err := pbkdf2.Key(sha256.New, text, salt, rounds, len(want))
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1
}

func parseHash(hash string) (rounds int, salt, key []byte, err error) {
	invalid := errors.New("this is not the hash of a passphrase; make one with: skills-mcp approve --new-passphrase")
	parts := strings.Split(hash, "$")
	if len(parts) != 4 || parts[0] != passphraseScheme {
		return 0, nil, nil, invalid
	}
	rounds, err = strconv.Atoi(parts[1])
	if err != nil || rounds < minRounds || rounds > maxRounds {
		return 0, nil, nil, invalid
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[2])
	key, err2 := base64.RawStdEncoding.DecodeString(parts[3])
	if err1 != nil || err2 != nil || len(salt) < 8 || len(key) != sha256.Size {
		return 0, nil, nil, invalid
	}
	return rounds, salt, key, nil
}
