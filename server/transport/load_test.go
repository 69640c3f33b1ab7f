package transport

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Many clients of both generations ask at once, with the same ids and progress
// tokens. Each gets its own, in order; and when they have left, nothing is left.
func TestManyClients(t *testing.T) {
	const clients, each = 50, 20
	s := serveHTTP(t, Backend{Core: benchCore(), State: func() uint64 { return 0 }}, nil)
	errs := make(chan error, clients*each)
	var all sync.WaitGroup
	for i := range clients {
		v := s.modern()
		if i%2 == 0 {
			v = s.legacy("{}")
		}
		all.Go(func() {
			for n := range each {
				if err := v.own(i, n); err != nil {
					errs <- fmt.Errorf("client %d, request %d: %w", i, n, err)
				}
			}
			if v.header.Get(SessionHeader) != "" {
				v.do(v.request(t.Context(), http.MethodDelete, "")).Body.Close()
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	s.wantNothingLeft()
	if n := len(s.h.legacy.sessions.byID); n > 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// own makes request n of client i, whose answer nobody else's is like.
func (v *visitor) own(i, n int) error {
	tag, method := fmt.Sprintf("%d-%d", i, n), "tools/call"
	params := callParams("echo", fmt.Sprintf(`{"tag":%q}`, tag))
	notices, result := 0, fmt.Sprintf("%q", tag)
	switch n % 4 {
	case 1:
		notices, result = i%5+1, `"done"`
		params = callParams("progress", fmt.Sprintf(`{"n":%d}`, notices), `"_meta":{"progressToken":"m"}`)
		if v.header.Get(SessionHeader) == "" { // message adds the same token
			params = callParams("progress", fmt.Sprintf(`{"n":%d}`, notices))
		}
	case 2:
		method, params, result = "tools/list", "{}", `"name":"progress"`
	}
	r := v.read(v.do(v.message(v.t.Context(), fmt.Sprint(n), method, params)))
	defer r.body.Close()
	for k := range notices {
		if m, err := r.next(); err != nil || string(m.Params) != fmt.Sprintf(`{"progress":%d,"progressToken":"m"}`, k+1) {
			return fmt.Errorf("progress %d is %v, %v", k+1, m, err)
		}
	}
	m, err := r.next()
	if err != nil || string(m.ID) != fmt.Sprint(n) || !strings.Contains(string(m.Result), result) {
		return fmt.Errorf("no %s in %v, %v", result, m, err)
	}
	if m, err := r.next(); err == nil {
		return fmt.Errorf("after its end it got %v", m)
	}
	return nil
}
