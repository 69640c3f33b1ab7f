package sandbox

import (
	"context"
	"errors"
	"testing"
)

// identified is a driver that says what its sandboxes are made of.
type identified struct {
	Driver
	base Base
	err  error
}

func (i identified) Identify(context.Context, string) (Base, error) { return i.base, i.err }

func (identified) Close() error { return nil }

// mute is a driver that does not say.
type mute struct{ Driver }

func (mute) Close() error { return nil }

// What is told is of the driver that would run a command.
func TestIdentify(t *testing.T) {
	gone := &UnavailableError{Reason: "no engine", Remedy: "start one"}
	one, two := identified{base: Base{ID: "one"}}, identified{base: Base{ID: "two"}}
	notThere := errors.New("the image is not there yet")
	for name, test := range map[string]struct {
		driver Driver
		want   string
		fails  bool
	}{
		"a driver":             {one, "one", false},
		"one that is mute":     {mute{}, "", true},
		"the first of two":     {Fallback(one, two, nil), "one", false},
		"the second of two":    {Fallback(identified{err: gone}, two, nil), "two", false},
		"no image yet":         {Fallback(identified{err: notThere}, two, nil), "", true},
		"neither":              {Fallback(identified{err: gone}, identified{err: gone}, nil), "", true},
		"the second is mute":   {Fallback(identified{err: gone}, mute{}, nil), "", true},
		"a first that is mute": {Fallback(mute{}, two, nil), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			runner := New(test.driver, nil)
			base, err := runner.Identify(t.Context(), "")
			if base.ID != test.want || (err != nil) != test.fails {
				t.Errorf("base %+v, error %v", base, err)
			}
			if err := runner.Close(); err != nil {
				t.Error(err)
			}
			if _, err := runner.Identify(t.Context(), ""); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}
