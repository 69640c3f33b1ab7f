package transport

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestLead has the table read calls, some of which it runs where they were read and some
// in other workers: reads never overlap, no more calls run than there are slots, and each
// runs once.
func TestLead(t *testing.T) {
	const messages = 3000
	for _, slots := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			table := newTable(slots, messages, messages, 1)
			var reading, running, ran, here atomic.Int64
			ended := make(chan struct{})
			next := 0
			newTestCall := func() *call {
				next++
				c := newCall(context.Background(), message{}, fmt.Sprint(next))
				c.run = func() {
					if n := running.Add(1); n > int64(slots) {
						t.Errorf("%d calls run in %d slots", n, slots)
					}
					for range ran.Add(1) % 3 { // others get ahead
						runtime.Gosched()
					}
					running.Add(-1)
					table.finish(c)
					table.leave(c)
				}
				return c
			}
			read := func() *call {
				for next < messages {
					if reading.Add(1) != 1 {
						t.Error("two read at once")
					}
					c := newTestCall()
					var mine bool
					var err error
					if next%7 == 0 {
						err = table.admit(c)
						reading.Add(-1)
					} else {
						reading.Add(-1) // another may read from the admission on
						mine, err = table.admitHere(c)
					}
					if err != nil {
						t.Error(err)
					}
					if mine {
						here.Add(1)
						return c
					}
				}
				close(ended)
				return nil
			}
			go table.lead(read)
			<-ended
			table.close()
			<-table.idle
			if ran.Load() != messages || here.Load() == 0 {
				t.Errorf("%d of %d calls ran, %d of them where they were read", ran.Load(), messages, here.Load())
			}
		})
	}
}

// TestLeadWhileCallsBlock wants messages to be read while as many calls block as there
// are slots, and those that wait to run when one ends.
func TestLeadWhileCallsBlock(t *testing.T) {
	const slots, messages = 2, 5
	table := newTable(slots, messages, messages, 1)
	release, ended, ran := make(chan struct{}), make(chan struct{}), make(chan string, messages)
	next := 0
	go table.lead(func() *call {
		for next < messages {
			next++
			c := newCall(context.Background(), message{}, fmt.Sprint(next))
			c.run = func() {
				<-release
				ran <- c.key
				table.finish(c)
				table.leave(c)
			}
			if here, err := table.admitHere(c); err != nil {
				t.Error(err)
			} else if here {
				return c
			}
		}
		close(ended)
		return nil
	})
	<-ended // while the first two block
	if n := table.count(); n != slots {
		t.Errorf("%d calls run", n)
	}
	close(release)
	table.close()
	<-table.idle
	if len(ran) != messages {
		t.Errorf("%d of %d calls ran", len(ran), messages)
	}
}
