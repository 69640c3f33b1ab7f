package elicit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// A state names a question of a pending call. A client gets it, signed, with the
// question, and sends it back with the answer (requestState).
type state struct {
	Run     string    `json:"r"`
	Round   int       `json:"n"`
	Expires time.Time `json:"e"` // zero is never
}

// maxState is how long a state can be, in bytes.
const maxState = 512

// errState is the error of a state that was changed, is of another server, or
// was given for another request.
var errState = errors.New("requestState is not valid for this request")

// A key signs states. It lasts as long as the calls that they name: the process.
type key [sha256.Size]byte

func newKey() *key {
	k := &key{}
	_, _ = rand.Read(k[:]) // which never fails
	return k
}

// seal returns a state as it is sent, signed for a request of those parts alone.
func (k *key) seal(s state, bound [][]byte) string {
	payload, _ := json.Marshal(s) // strings, numbers and a time can be encoded
	return base64.RawURLEncoding.EncodeToString(payload) + "." + base64.RawURLEncoding.EncodeToString(k.sign(payload, bound))
}

// open returns the state of a token that was sealed for the same parts, or [errState].
func (k *key) open(token string, bound [][]byte) (s state, err error) {
	first, second, ok := strings.Cut(token, ".")
	if !ok || len(token) > maxState {
		return s, errState
	}
	decoding := base64.RawURLEncoding.Strict() // one way to write each
	payload, err := decoding.DecodeString(first)
	if err != nil {
		return s, errState
	}
	signature, err := decoding.DecodeString(second)
	if err != nil || !hmac.Equal(signature, k.sign(payload, bound)) {
		return s, errState
	}
	if err := json.Unmarshal(payload, &s); err != nil {
		return s, errState
	}
	return s, nil
}

// sign returns the signature of a payload for a request of those parts.
func (k *key) sign(payload []byte, bound [][]byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	for _, part := range append([][]byte{payload}, bound...) {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(part))) // a hash takes everything, here and below
		_, _ = mac.Write(part)
	}
	return mac.Sum(nil)
}
