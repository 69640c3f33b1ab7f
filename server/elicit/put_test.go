package elicit

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"
)

// A request names when its client got it: where a request was sent, or
// with a result. That of a task looks for it.
func TestPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		sent := nameForm(t, "?")
		_, err := Sender(func(context.Context, string, any) (json.RawMessage, error) {
			time.Sleep(time.Minute)
			return json.RawMessage(ann), nil
		}).Ask(t.Context(), map[string]*Request{"one": sent})
		if err != nil || !sent.Put.Equal(began) {
			t.Errorf("sent: %v, %v", sent.Put.Sub(began), err)
		}

		for name, test := range map[string]struct {
			again bool          // the client calls without an answer, a second before it answers
			want  time.Duration // after the result
		}{
			"in a result":       {},
			"in a later result": {again: true, want: time.Minute - time.Second},
		} {
			d := NewPendingCalls(nil, nil)
			request := nameForm(t, "?")
			call := func(state, answers string) error {
				c := Call{Owner: "me", State: state, Responses: responses(t, answers)}
				_, err := d.Do(t.Context(), c, func(ctx context.Context, r *PendingCall) any {
					time.Sleep(time.Hour) // before it asks
					_, err := r.Ask(ctx, map[string]*Request{"one": request})
					return err
				})
				return err
			}
			state := required(t, call("", `{}`), "one")
			result := time.Now()
			time.Sleep(time.Minute - time.Second)
			if test.again {
				state = required(t, call(state, `{}`), "one")
			}
			time.Sleep(time.Second)
			if err := call(state, `{"one":`+ann+`}`); err != nil || request.Put.Sub(result) != test.want {
				t.Errorf("%s: %v after the result, want %v; %v", name, request.Put.Sub(result), test.want, err)
			}
			d.Close()
		}
	})
}

// A request of which any answer counts is not asked again after one that its form forbids;
// others are.
func TestOnce(t *testing.T) {
	for _, once := range []bool{true, false} {
		d := NewPendingCalls(nil, nil)
		request := nameForm(t, "?")
		request.Once = once
		call := func(state, answers string) error {
			_, err := d.Do(t.Context(), Call{Owner: "me", State: state, Responses: responses(t, answers)}, func(ctx context.Context, r *PendingCall) any {
				_, err := r.Ask(ctx, map[string]*Request{"one": request})
				return err
			})
			return err
		}
		state := required(t, call("", `{}`), "one")
		if err := call(state, `{"one":{"action":"accept","content":{"name":5}}}`); (err == nil) != once {
			t.Errorf("once %t: %v", once, err)
		}
		d.Close()
	}
}
