package clients

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A question that nobody answers is a no, whoever leaves it.
func TestQuestionsWithoutAnswer(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			a := lab.NativeAccount(t, "sandbox: {asking: {wait: 1s}}\n"+lab.AllForms)
			c := a.Serve(era, `{"elicitation":{}}`)

			// The client says nothing.
			silent := c.Call("note", lab.Text("silent"))
			if c.Modern {
				time.Sleep(3 * time.Second) // longer than it waits
				silent = c.Choose(silent, "once")
			} else {
				silent = c.Next(silent.Call)
			}
			c.Fails(silent)
			a.Wrote(0)
		})
	}
	for _, era := range []string{"legacy", "modern"} {
		for name, end := range map[string]func(c *lab.ToolClient){
			"the client leaves":    func(c *lab.ToolClient) { _ = c.Close() },
			"the server is killed": func(c *lab.ToolClient) { _ = c.Cmd.Process.Kill(); _ = c.Close() },
		} {
			t.Run(era+", "+name, func(t *testing.T) {
				t.Parallel()
				a := lab.NativeAccount(t, lab.AllForms)
				c := a.Start(era, `{"elicitation":{}}`)
				asked := c.Call("note", lab.Text("one"))
				yes := asked.Choice(c, "once")
				end(c)
				a.Wrote(0)
				// The next server asks anew, and works.
				c = a.Serve(era, `{"elicitation":{}}`)
				asked = c.Call("note", lab.Text("one"))
				c.Succeeds(c.Answer(asked, yes), "wrote")
				a.Wrote(1)
			})
		}
	}
}

// A client that declines faster than a person reads cannot ask: the person is asked
// elsewhere. A decline after that time is theirs, and final.
func TestInstantDecline(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			a := lab.NativeAccount(t, "")
			c := a.Serve(era, `{"elicitation":{}}`)
			note, answer := c.DeclineAtOnce("note", "one", `{"action":"decline"}`)
			a.Approve(c.Waits(answer))
			c.Succeeds(c.Call("note", note), "wrote")

			asked := c.Call("note", lab.Text("two"))
			time.Sleep(400 * time.Millisecond) // longer than the bound of 300 ms
			c.Fails(c.Answer(asked, `{"action":"decline"}`), "said no")
			a.Wrote(1)
		})
	}
}

// Two servers of one person have one approval between them.
func TestTwoServersOneApproval(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	first, second := a.Serve("legacy", `{}`), a.Serve("modern", `{}`)
	for round := range 3 {
		args := lab.Text(string(rune('a' + round)))
		a.Approve(first.Waits(first.Call("note", args)))
		var wait sync.WaitGroup
		replies := make([]lab.Reply, 2)
		for i, c := range []*lab.ToolClient{first, second} {
			wait.Go(func() { replies[i] = c.Call("note", args) })
		}
		wait.Wait()
		if ran := len(a.Notes()); ran != round+1 {
			t.Fatalf("%d runs of %d approvals: %s, %s", ran, round+1, replies[0].Text(), replies[1].Text())
		}
	}
}

// A deny, and a revocation, count from then on, in servers that run.
func TestDenyAndRevoke(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "policy: {skills: {note: {approve: always}}}\n")
	c := a.Serve("legacy", `{}`)
	id := c.Waits(c.Call("note", lab.Text("one")))
	if out, code := a.Run("deny", id); code != 0 {
		t.Fatal(out)
	}
	c.Fails(c.Call("note", lab.Text("one")))
	a.Wrote(0)

	id = c.Waits(c.Call("note", lab.Text("two")))
	a.Approve(id)
	c.Succeeds(c.Call("note", lab.Text("three")), "wrote")
	if out, code := a.Run("revoke", id); code != 0 {
		t.Fatal(out)
	}
	c.Waits(c.Call("note", lab.Text("four")))
	a.Wrote(1)
}

// A run that needs a person's yes does not happen while the disk is full, and does when it
// is not any more. Others go on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, lab.AllForms)
	a.Skill("look/SKILL.md", "---\nname: look\ndescription: d\nscript: run.sh\n---\n")
	a.Skill("look/run.sh", "echo looked\n")
	if err := os.MkdirAll(a.State(), 0o700); err != nil {
		t.Fatal(err)
	}
	// The state folder is a file system of its own, which is small.
	a.Under = []string{"unshare", "--mount", "bash", "-c", `mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"`, a.State()}
	if os.Geteuid() != 0 {
		a.Under = slices.Insert(a.Under, 1, "--map-root-user")
	}
	c := a.Serve("modern", `{"elicitation":{}}`)
	c.Succeeds(c.Choose(c.Call("note", lab.Text("before")), "once"), "wrote")
	fill := filepath.Join("/proc", fmt.Sprint(c.Cmd.Process.Pid), "root", a.State("fill"))
	if err := os.WriteFile(fill, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}

	// The store's files have room that they do not use yet.
	ran := 1
	for ; ran < 1000; ran++ {
		r := c.Call("note", lab.Text(fmt.Sprint(ran)))
		if r.Asked != nil {
			r = c.Choose(r, "once")
		}
		if r.Error == nil && !r.Result.IsError {
			continue
		}
		c.Fails(r, "UNAVAILABLE")
		break
	}
	a.Wrote(ran)
	if ran == 1000 {
		t.Error("a thousand runs were recorded on a full disk")
	}
	c.Succeeds(c.Call("look", map[string]any{}), "looked")

	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	c.Succeeds(c.Choose(c.Call("note", lab.Text("after")), "once"), "wrote")
	a.Wrote(ran + 1)
}
