package lazyregexp

import (
	"sync"
	"testing"
)

var words = New(`(?i)\bon(e)\b`)

// An expression compiles once, when it is first used, by whoever is first.
func TestFirstUse(t *testing.T) {
	if words.re != nil {
		t.Error("it was compiled before its first use")
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := words.FindStringSubmatch("the One"); len(got) != 2 || got[1] != "e" {
				t.Errorf("got %q", got)
			}
		})
	}
	all.Wait()
	if before := words.compiled(); !words.MatchString("one") || words.compiled() != before {
		t.Error("it was compiled again")
	}
}

func TestWrongExpression(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression did not panic")
		}
	}()
	New(`(`).MatchString("")
}
