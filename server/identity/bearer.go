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

// A Bearer lets in callers with one token, the same for all. It may be used
// concurrently.
type Bearer struct{ sum [sha256.Size]byte }

// NewBearer returns an authenticator of a token.
func NewBearer(token string) *Bearer { return &Bearer{sha256.Sum256([]byte(token))} }

// Authenticate returns the principal of a request that carries the token, or a
// [*Challenge].
func (b *Bearer) Authenticate(r *http.Request) (Principal, error) {
	sent, err := bearerToken(r)
	if err != nil {
		return Principal{}, err
	}
	sum := sha256.Sum256([]byte(sent)) // of one length, to be compared in constant time
	if subtle.ConstantTimeCompare(sum[:], b.sum[:]) != 1 {
		return Principal{}, unauthorized("its token is not the server's")
	}
	return Principal{Kind: Token}, nil
}

// bearerToken returns the token of a request, or a [*Challenge].
func bearerToken(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	switch {
	case len(values) > 1: // a gateway in front of the server may have looked at the other
		const twice = "the header Authorization is there twice"
		return "", &Challenge{Status: http.StatusBadRequest, Message: twice, Reason: twice}
	case len(values) == 0 || values[0] == "":
		return "", unauthorized("it has no token")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", unauthorized("its token is not the server's")
	}
	return strings.TrimSpace(token), nil
}

func unauthorized(reason string) *Challenge {
	return &Challenge{
		Status: http.StatusUnauthorized, Authenticate: "Bearer", Reason: reason,
		Message: "the bearer token of the server is needed: Authorization: Bearer TOKEN",
	}
}
