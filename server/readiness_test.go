package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// conversation is a stdio client of a server that has published nothing.
type conversation struct {
	*bench
	in    io.WriteCloser
	lines chan string // what the server has written
	ended chan error
}

// begin connects a client. It is called in a bubble.
func begin(t *testing.T, firstScan time.Duration) *conversation {
	runner, snapshots := sandbox.New(ends(0, "ran", ""), nil), snapshot.New(t.TempDir())
	b := &bench{t: t, files: library()}
	b.Server = New(run.New(runner, snapshots, policy.New(nil), nil), &Options{Version: "test", Snapshots: snapshots, Reloader: b, FirstScan: firstScan})
	r, in := io.Pipe()
	out, w := io.Pipe()
	c := &conversation{b, in, make(chan string, 100), make(chan error, 1)}
	go func() {
		c.ended <- transport.ServeStdio(context.WithoutCancel(t.Context()), b.Backend(), r, w, nil)
		w.Close()
	}()
	go func() {
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			c.lines <- scanner.Text()
		}
		close(c.lines)
	}()
	t.Cleanup(func() {
		in.Close()
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
		b.Close()
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	c.send(0, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if got := c.heard(); len(got) != 0 {
		t.Errorf("initialize did not wait: %q", got)
	}
	time.Sleep(100 * time.Millisecond)
	if got := c.heard(); len(got) != 1 || strings.TrimSpace(got[0]) != "0" {
		t.Errorf("initialize: %q", got)
	}
	return c
}

func (c *conversation) send(id int, method, params string) {
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
}

// heard returns what has come since: an id with the names of a list, or a method.
func (c *conversation) heard() (all []string) {
	synctest.Wait()
	for {
		select {
		case line := <-c.lines:
			var m struct {
				ID     json.RawMessage
				Method string
				Result struct {
					Tools, Prompts []struct{ Name string }
				}
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				c.t.Fatalf("%v in %s", err, line)
			}
			names := []string{string(m.ID) + m.Method}
			for _, one := range slices.Concat(m.Result.Tools, m.Result.Prompts) {
				if strings.HasPrefix(one.Name, "demo__") {
					names = append(names, one.Name)
				}
			}
			all = append(all, strings.Join(names, " "))
		default:
			slices.Sort(all)
			return all
		}
	}
}

func (c *conversation) want(want ...string) {
	c.t.Helper()
	got := c.heard()
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("heard %q, want %q", got, want)
	}
}

// A list waits for the first catalog and is whole: no notice is needed.
func TestFirstCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begin(t, 10*time.Second)
		c.send(1, "tools/list", "{}")
		c.send(2, "prompts/list", "{}")
		time.Sleep(9 * time.Second)
		c.want()
		if err := c.Ready(); err == nil {
			t.Error("it is ready before the first catalog")
		}
		c.publish()
		c.want()
		if err := c.Ready(); err != nil {
			t.Error(err)
		}
		c.Activate(nil)
		c.want("1 demo__guide demo__run demo__write", "2 demo__private demo__guide demo__run demo__write")
		c.files["p/skills/guide/SKILL.md"].Data = []byte("---\nname: guide\ndescription: Tells more.\n---\nText.\n")
		c.publish()
		c.want("notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/tools/list_changed")
	})
}

// Clients are answered in time, and notified once of what was missing.
func TestSlowFirstCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begin(t, 10*time.Second)
		c.send(1, "tools/list", "{}")
		time.Sleep(11 * time.Second)
		c.want("1")
		c.send(2, "tools/list", "{}")
		c.want("2")
		c.send(3, "tools/call", `{"name":"demo__run","arguments":{"target":"x"}}`)
		time.Sleep(time.Minute)
		c.want()
		if err := c.Ready(); err == nil {
			t.Error("it is ready before the first catalog")
		}
		c.publish()
		c.want("notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/tools/list_changed")
		c.Activate(nil)
		c.want("3")
		c.send(4, "tools/list", "{}")
		c.want("4 demo__guide demo__run demo__write")
	})
}

// A list has the skills that the workspaces have files for, if these are found soon.
func TestFirstSearch(t *testing.T) {
	for soon, want := range map[bool]string{true: "1 demo__write", false: "1 demo__guide"} {
		synctest.Test(t, func(t *testing.T) {
			c := begin(t, 10*time.Second)
			c.published.expose.MaxTools = 1
			c.send(1, "tools/list", "{}")
			c.publish()
			if time.Sleep(searchTime - time.Nanosecond); !soon {
				time.Sleep(time.Nanosecond)
				c.want(want)
			}
			c.Activate(map[string]bool{"demo/write": true})
			if soon {
				c.want(want)
			} else {
				c.want("notifications/tools/list_changed")
			}
		})
	}
}

// A server may end before its first catalog.
func TestNoFirstCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin(t, time.Hour)
	})
}
