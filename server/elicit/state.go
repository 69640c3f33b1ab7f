package elicit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A state names a question of a pending call. A client gets it, signed, with the
// question, and sends it back with the answer (requestState).
type state struct {
	run   string
	round int
	shown int64 // when the client got the question, in ms since 1970; 0: the run has begun
}

func (s state) String() string { return fmt.Sprintf("%s.%d.%d", s.run, s.round, s.shown) }

// maxState is how long a state can be, in bytes.
const maxState = 512

// errState is the error of a state that was changed, is of another server, or
// was given for another request.
var errState = errors.New("requestState is not valid for this request")

// A key signs states. It lasts as long as the calls that they name: the process, or that of
// the servers that share a secret.
type key [sha256.Size]byte

func newKey(secret []byte) *key {
	k := &key{}
	if copy(k[:], secret) < len(k) {
		_, _ = rand.Read(k[:]) // which never fails
	}
	return k
}

// seal returns a state as it is sent, signed for a request of those parts alone.
func (k *key) seal(s state, bound [][]byte) string {
	return s.String() + "." + base64.RawURLEncoding.EncodeToString(k.sign(s.String(), bound))
}

// open returns the state of a token that was sealed for the same parts, or [errState].
func (k *key) open(token string, bound [][]byte) (s state, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 4 || len(token) > maxState {
		return s, errState
	}
	s.run = parts[0]
	if s.round, err = strconv.Atoi(parts[1]); err == nil {
		s.shown, err = strconv.ParseInt(parts[2], 10, 64)
	}
	if err != nil || !hmac.Equal([]byte(k.seal(s, bound)), []byte(token)) {
		return state{}, errState
	}
	return s, nil
}

// sign returns the signature of a text for a request of those parts.
func (k *key) sign(text string, bound [][]byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	for _, part := range append([][]byte{[]byte(text)}, bound...) {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(part))) // a hash takes everything, here and below
		_, _ = mac.Write(part)
	}
	return mac.Sum(nil)
}
