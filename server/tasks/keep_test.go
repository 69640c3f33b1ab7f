package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A task is there for as long as was said, and not much longer.
func TestAge(t *testing.T) {
	run(t, &Options{Age: time.Minute}, func(t *testing.T, b *bench) {
		id := b.begin(takes(90*time.Second, says("done"), nil))
		time.Sleep(80 * time.Second) // longer than it is kept, but it works
		created := b.get(id)
		time.Sleep(69*time.Second + 999*time.Millisecond)
		if got := b.get(id); got.Status != "completed" || got.TTLMs != 150_000 {
			t.Errorf("%+v after %+v", got, created)
		}
		time.Sleep(time.Millisecond)
		got := b.ask("ann", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id))
		if want := "error -32602: there is no such task: it has expired, or never was"; got != want {
			t.Error(got)
		}
		if n := len(b.calls.All()); b.bytes() != 0 || n != 0 {
			t.Errorf("%d bytes and %d tasks are left", b.bytes(), n)
		}
	})
}

// Where there is no room, the oldest task that has ended goes, a principal's own
// first. Those that run stay, however many there are.
func TestCountLimit(t *testing.T) {
	run(t, &Options{Count: 3}, func(t *testing.T, b *bench) {
		quick := takes(1, says("done"), nil)
		bobs := b.beginAs("bob", quick)
		first, second := b.begin(quick), b.begin(quick)
		time.Sleep(time.Second)
		third := b.begin(waits)
		exist(b, map[string]bool{first: false, second: true, third: true})
		fourth := b.begin(waits)
		exist(b, map[string]bool{second: false, third: true, fourth: true})
		if b.find(owner("bob"), bobs) == nil {
			t.Error("another's went before one's own")
		}
		b.begin(waits)
		if b.find(owner("bob"), bobs) != nil {
			t.Error("the oldest is still there")
		}
		exist(b, map[string]bool{third: true, fourth: true, b.begin(waits): true})
	})
}

// A result counts as read when the client gets it first. An error is none, nor a cancelled
// task.
func TestOnRead(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		cancel bool
		want   int
	}{"result": {want: 1}, "error": {err: errors.New("no")}, "cancelled": {cancel: true}} {
		t.Run(name, func(t *testing.T) {
			run(t, nil, func(t *testing.T, b *bench) {
				read := 0
				id := b.begin(func(ctx context.Context, task *Task) (*mcp.CallToolResult, error) {
					task.OnRead(func() { read++ })
					return takes(time.Second, says("done"), test.err)(ctx, task)
				})
				b.get(id)
				if test.cancel {
					b.ask("ann", "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id))
				}
				time.Sleep(2 * time.Second)
				b.ask("bob", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id))
				if read != 0 {
					t.Error("read before its client asks")
				}
				b.get(id)
				b.get(id)
				if read != test.want {
					t.Errorf("read %d times", read)
				}
			})
		})
	}
}

// Results are bounded too.
func TestBytesLimit(t *testing.T) {
	run(t, &Options{Bytes: 1000}, func(t *testing.T, b *bench) {
		large := takes(1, says(strings.Repeat("x", 500)), nil)
		first := b.begin(large)
		time.Sleep(time.Second)
		second := b.begin(large)
		time.Sleep(time.Second)
		exist(b, map[string]bool{first: false, second: true})
	})
}

func exist(b *bench, want map[string]bool) {
	b.t.Helper()
	for id, there := range want {
		if got := b.find(owner("ann"), id) != nil; got != there {
			b.t.Errorf("a task is there: %t, want %t", got, there)
		}
	}
}
