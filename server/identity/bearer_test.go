package identity

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The token alone lets a client in, and a refusal says how to ask again.
func TestBearer(t *testing.T) {
	b := NewBearer("s3cret")
	for name, test := range map[string]struct {
		headers []string
		status  int // of the challenge; 0 is none
		reason  string
	}{
		"the token":      {[]string{"Bearer s3cret"}, 0, ""},
		"another case":   {[]string{"bearer s3cret"}, 0, ""},
		"more space":     {[]string{"Bearer  s3cret "}, 0, ""},
		"none":           {nil, 401, "it has no token"},
		"empty":          {[]string{""}, 401, "it has no token"},
		"another":        {[]string{"Bearer other"}, 401, "its token is not the server's"},
		"longer":         {[]string{"Bearer s3cretx"}, 401, "its token is not the server's"},
		"another scheme": {[]string{"Basic s3cret"}, 401, "its token is not the server's"},
		"no scheme":      {[]string{"s3cret"}, 401, "its token is not the server's"},
		"no token":       {[]string{"Bearer"}, 401, "its token is not the server's"},
		"too long":       {[]string{"Bearer " + strings.Repeat("x", maxToken+1)}, 401, "its token is not the server's"},
		"two":            {[]string{"Bearer s3cret", "Bearer s3cret"}, 400, "the header Authorization is there twice"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/", nil)
			r.Header["Authorization"] = test.headers
			sent, err := BearerToken(r)
			if err == nil && !b.Is(sent) {
				err = Unauthorized(WrongToken)
			}
			c, _ := errors.AsType[*Challenge](err)
			switch {
			case test.status == 0:
				if err != nil {
					t.Error(err)
				}
			case c == nil || c.Status != test.status || c.Reason != test.reason:
				t.Error(err)
			case c.Status == http.StatusUnauthorized && c.Authenticate != map[bool]string{true: "Bearer", false: `Bearer error="invalid_token"`}[c.Reason == NoToken]:
				t.Errorf("the challenge is %q", c.Authenticate)
			}
		})
	}
}
