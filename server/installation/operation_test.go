package installation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// reviewed returns operations whose work asks about one change, and records the result.
func reviewed(t *testing.T, change *Change) (*Operations, *[]string) {
	var results []string
	all := NewOperations(func(ctx context.Context, o *Operation) error {
		o.Progress("fetching")
		accepted, err := o.Review(ctx, change)
		switch {
		case err != nil:
			results = append(results, "error")
			return err
		case accepted:
			results = append(results, "accepted")
		default:
			results = append(results, "left")
		}
		o.Report(results[len(results)-1])
		return nil
	})
	t.Cleanup(all.Close)
	return all, &results
}

// A change is made once the person accepts the one that was shown, and not otherwise.
func TestReview(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(o *Operation) error
		want   string
		err    string // of the answer
	}{
		"accept":  {func(o *Operation) error { return o.Answer("d", true) }, "accepted", ""},
		"leave":   {func(o *Operation) error { return o.Answer("d", false) }, "left", ""},
		"another": {func(o *Operation) error { defer o.Stop(); return o.Answer("e", true) }, "error", "not the one that was shown"},
		"twice": {func(o *Operation) error {
			if err := o.Answer("d", true); err != nil {
				return err
			}
			return o.Answer("d", false)
		}, "accepted", "waits for no answer"},
		"stop":    {func(o *Operation) error { o.Stop(); return nil }, "error", ""},
		"nobody":  {func(o *Operation) error { time.Sleep(Patience); return nil }, "error", ""},
		"in time": {func(o *Operation) error { time.Sleep(Patience - time.Second); return o.Answer("d", true) }, "accepted", ""},
		"late":    {func(o *Operation) error { time.Sleep(Patience + time.Second); return o.Answer("d", true) }, "error", "waits for no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all, results := reviewed(t, &Change{Digest: "d"})
				o, err := all.Start(Order{Action: Update})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if s := o.Snapshot(); s.Change == nil || s.Progress != "" || !s.Ended.IsZero() {
					t.Fatalf("%+v", s)
				}
				err = test.answer(o)
				if text := message(err); test.err == "" && err != nil || !strings.Contains(text, test.err) {
					t.Errorf("the answer is refused: %q", text)
				}
				synctest.Wait()
				if got := strings.Join(*results, " "); got != test.want {
					t.Errorf("it ended with %q", got)
				}
				s := o.Snapshot()
				if s.Change != nil || s.Ended.IsZero() || (s.Err != nil) != (test.want == "error") {
					t.Errorf("%+v", s)
				}
				all.Close()
			})
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Few operations are under way at the same time, and few results are remembered.
func TestOperationsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, _ := reviewed(t, &Change{})
		var first *Operation
		for range maxActive {
			o, err := all.Start(Order{})
			if err != nil {
				t.Fatal(err)
			}
			first = o
		}
		if _, err := all.Start(Order{}); err == nil || !strings.Contains(err.Error(), "under way") {
			t.Errorf("one too many: %v", err)
		}
		version := all.Version()
		first.Stop()
		synctest.Wait()
		if all.Version() == version {
			t.Error("the end is no new version")
		}
		for range maxEnded + 5 {
			o, err := all.Start(Order{})
			if err != nil {
				t.Fatal(err)
			}
			o.Stop()
			synctest.Wait()
		}
		if n := len(all.All()); n > maxActive+maxEnded {
			t.Errorf("%d are remembered", n)
		}
		if _, err := all.Find(first.ID); err == nil {
			t.Error("the oldest result is remembered")
		}
		all.Close()
		if _, err := all.Start(Order{}); err == nil {
			t.Error("a closed one starts operations")
		}
	})
}

// A source with several skills ends an operation with the choice.
func TestChoices(t *testing.T) {
	s := Snapshot{Err: errors.Join(&source.ChoiceError{Choices: []source.Choice{{Name: "a"}}})}
	if len(s.Choices()) != 1 || (Snapshot{}).Choices() != nil {
		t.Error(s.Choices())
	}
}
