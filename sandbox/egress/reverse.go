package egress

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httputil"
	"time"
)

// The bounds of the heads of requests and responses.
const (
	maxHeader   = 64 << 10 // bytes
	headTimeout = 15 * time.Second
)

// newReverseProxy returns a reverse proxy that streams, and says why a host does not answer.
func newReverseProxy(silent *log.Logger) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      silent,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			var f *fault
			if !errors.As(err, &f) {
				f = &fault{status: http.StatusBadGateway, message: fmt.Sprintf("%s did not answer: %s", r.URL.Host, reason(err))}
			}
			answer(w, r, f)
		},
	}
}
