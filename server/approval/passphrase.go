package approval

import (
	"context"
	"crypto/ed25519"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

const (
	// passphraseScheme begins the hash of a passphrase: SCHEME$ITERATIONS$SALT$KEY. The key
	// is a public one, whose private one is made of the passphrase.
	passphraseScheme = "ed25519-pbkdf2-sha256"
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

// Keys returns the public keys of those who prove who they are. The hashes are valid.
func (p Passphrases) Keys() seal.People {
	keys := seal.People{}
	add := func(name, hash string) {
		if _, _, key, err := parseHash(hash); err == nil {
			keys[name] = key
		}
	}
	add(seal.Person, p.Person)
	add(seal.Script, p.Script)
	for name, hash := range p.Approvers {
		add(Named(name).ID, hash)
	}
	return keys
}

// HashPassphrase returns the hash of a new passphrase, for the configuration.
func HashPassphrase(passphrase string) (string, error) {
	if len(passphrase) < minPassphrase {
		return "", fmt.Errorf("a passphrase has %d characters or more", minPassphrase)
	}
	var salt [16]byte
	_, _ = rand.Read(salt[:]) // which never fails
	key, err := derive(passphrase, salt[:], passphraseRounds)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return strings.Join([]string{passphraseScheme, strconv.Itoa(passphraseRounds), encode(salt[:]), encode(key.Public().(ed25519.PublicKey))}, "$"), nil
}

// CheckHash returns an error if a text is not a hash that [HashPassphrase] makes.
func CheckHash(hash string) error {
	_, _, _, err := parseHash(hash)
	return err
}

// derive returns the private key that is made of a passphrase.
func derive(passphrase string, salt []byte, rounds int) (ed25519.PrivateKey, error) {
	seed, err := pbkdf2.Key(sha256.New, passphrase, salt, rounds, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// Prove returns a context whose decisions are signed with the key of a passphrase; ok is
// false if a text is another one.
func Prove(ctx context.Context, hash, text string) (proved context.Context, ok bool) {
	agent := &seal.Agent{}
	ok = Unlock(hash, text, agent)
	return seal.NewContext(ctx, agent), ok
}

// Unlock reports whether a text is the passphrase of a hash. The agent, if any, signs with
// its key then.
func Unlock(hash, text string, agent *seal.Agent) bool {
	rounds, salt, want, err := parseHash(hash)
	if err != nil {
		return false
	}
	key, err := derive(text, salt, rounds)
	if err != nil || !want.Equal(key.Public()) {
		return false
	}
	if agent != nil {
		agent.Unlock(key)
	}
	return true
}

func parseHash(hash string) (rounds int, salt []byte, key ed25519.PublicKey, err error) {
	invalid := errors.New("this is not the hash of a passphrase, which has its public key; make one with: skills-mcp approve --new-passphrase")
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
	if err1 != nil || err2 != nil || len(salt) < 8 || len(key) != ed25519.PublicKeySize {
		return 0, nil, nil, invalid
	}
	return rounds, salt, key, nil
}
