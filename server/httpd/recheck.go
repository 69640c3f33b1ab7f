package httpd

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// recheckTime is the time after which the credential of an open request is looked at
// again: one that was revoked ends its streams.
const recheckTime = time.Second

// errRevoked is the cause of the end of a request whose credential counts no more.
var errRevoked = errors.New("its credential was revoked")

// recheck ends the request of p by cancel when its credential is revoked. One that expires
// meanwhile does not end it: a call may take longer than a token lives. The caller calls
// stop at the end of the request.
func recheck(r *http.Request, p identity.Principal, authenticate func(*http.Request) (identity.Principal, error), cancel context.CancelCauseFunc) (stop func()) {
	var mu sync.Mutex // held while it looks; guards the timer
	ended := false
	var timer *time.Timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(recheckTime, func() {
		mu.Lock()
		defer mu.Unlock()
		if ended || !p.Expires.IsZero() && !time.Now().Before(p.Expires) {
			return
		}
		_, err := authenticate(r)
		if _, refused := errors.AsType[*identity.Challenge](err); refused {
			cancel(errRevoked)
			return
		}
		timer.Reset(recheckTime)
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}
}
