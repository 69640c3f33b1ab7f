package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// A Challenge is the error of a request whose sender is not proved or not allowed, with
// the answer for the client (RFC 9110, RFC 6750).
type Challenge struct {
	Status       int    // 400, 401 or 403
	Authenticate string // the header WWW-Authenticate; "" sends none
	Message      string // the body, for the client
	Reason       string // for the log; it holds nothing of a credential
}

func (c *Challenge) Error() string { return c.Reason }

// A Bearer knows one token by its hash. It may be used concurrently.
type Bearer struct{ sum [sha256.Size]byte }

// NewBearer returns the hash of a token.
func NewBearer(token string) *Bearer { return &Bearer{sha256.Sum256([]byte(token))} }

// Is reports whether a text is the token. A nil Bearer has none.
func (b *Bearer) Is(text string) bool {
	if b == nil {
		return false
	}
	sum := sha256.Sum256([]byte(text)) // of one length, to be compared in constant time
	return subtle.ConstantTimeCompare(sum[:], b.sum[:]) == 1
}

// WrongToken is the reason of a challenge for a token that nobody has.
const WrongToken = "its token is not the server's"

// maxToken bounds a token that is looked at, in bytes.
const maxToken = 16 << 10

// BearerToken returns the token of a request, or a [*Challenge].
func BearerToken(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	switch {
	case len(values) > 1: // a gateway in front of the server may have looked at the other
		const twice = "the header Authorization is there twice"
		return "", &Challenge{Status: http.StatusBadRequest, Message: twice, Reason: twice}
	case len(values) == 0 || values[0] == "":
		return "", Unauthorized(NoToken)
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || len(token) > maxToken {
		return "", Unauthorized(WrongToken)
	}
	return strings.TrimSpace(token), nil
}

// NoToken is the reason of a challenge for a request without a token.
const NoToken = "it has no token"

// Unauthorized returns the challenge with a reason for the log. To the client all but
// [NoToken] are alike.
func Unauthorized(reason string) *Challenge {
	c := &Challenge{
		Status: http.StatusUnauthorized, Authenticate: "Bearer", Reason: reason,
		Message: "the bearer token of the server is needed: Authorization: Bearer TOKEN",
	}
	if reason != NoToken {
		c.Authenticate = `Bearer error="invalid_token"`
	}
	return c
}
