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

// A state is what a client is given with a question, and brings back with the
// answer (requestState).
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

// A key signs states. It lasts as long as the runs that they are of: the
// process.
type key [sha256.Size]byte

func newKey() *key {
	k := &key{}
	_, _ = rand.Read(k[:]) // which never fails
	return k
}

// seal returns a state as it is sent. It is good for one principal's request alone.
func (k *key) seal(s state, c *Call) string {
	payload, _ := json.Marshal(s) // strings, numbers and a time can be encoded
	return base64.RawURLEncoding.EncodeToString(payload) + "." + base64.RawURLEncoding.EncodeToString(k.sign(payload, c))
}

// open returns the state of a token, or [errState].
func (k *key) open(token string, c *Call) (s state, err error) {
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
	if err != nil || !hmac.Equal(signature, k.sign(payload, c)) {
		return s, errState
	}
	if err := json.Unmarshal(payload, &s); err != nil {
		return s, errState
	}
	return s, nil
}

// sign binds a payload to a principal and what they asked for.
func (k *key) sign(payload []byte, c *Call) []byte {
	mac := hmac.New(sha256.New, k[:])
	for _, part := range [][]byte{payload, []byte(c.Owner), []byte(c.Method), []byte(c.Name), c.Args} {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(part))) // a hash takes everything, here and below
		_, _ = mac.Write(part)
	}
	return mac.Sum(nil)
}
