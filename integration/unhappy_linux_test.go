package integration

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
)

// A question that nobody answers is a no, whoever leaves it.
func TestQuestionsWithoutAnswer(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			a := nativeAccount(t, "sandbox: {asking: {wait: 1s}}\n"+allForms)
			c := a.serve(era, `{"elicitation":{}}`)

			// The client says nothing.
			silent := c.call("note", text("silent"))
			if c.modern {
				time.Sleep(3 * time.Second) // longer than it waits
				silent = c.choose(silent, "once")
			} else {
				silent = c.next(silent.call)
			}
			c.fails(silent)
			a.wrote(0)
		})
	}
	for _, era := range []string{"legacy", "modern"} {
		for name, end := range map[string]func(c *toolClient){
			"the client leaves":    func(c *toolClient) { _ = c.close() },
			"the server is killed": func(c *toolClient) { _ = c.cmd.Process.Kill(); _ = c.close() },
		} {
			t.Run(era+", "+name, func(t *testing.T) {
				t.Parallel()
				a := nativeAccount(t, allForms)
				c := a.start(era, `{"elicitation":{}}`)
				asked := c.call("note", text("one"))
				yes := asked.choice(c, "once")
				end(c)
				a.wrote(0)
				// The next server asks anew, and works.
				c = a.serve(era, `{"elicitation":{}}`)
				asked = c.call("note", text("one"))
				c.succeeds(c.answer(asked, yes), "wrote")
				a.wrote(1)
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
			a := nativeAccount(t, "")
			c := a.serve(era, `{"elicitation":{}}`)
			a.approve(c.waits(c.answer(c.call("note", text("one")), `{"action":"decline"}`)))
			c.succeeds(c.call("note", text("one")), "wrote")

			asked := c.call("note", text("two"))
			time.Sleep(400 * time.Millisecond) // longer than the bound of 300 ms
			c.fails(c.answer(asked, `{"action":"decline"}`), "said no")
			a.wrote(1)
		})
	}
}

// Two servers of one person have one approval between them.
func TestTwoServersOneApproval(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	first, second := a.serve("legacy", `{}`), a.serve("modern", `{}`)
	for round := range 3 {
		args := text(string(rune('a' + round)))
		a.approve(first.waits(first.call("note", args)))
		var wait sync.WaitGroup
		replies := make([]reply, 2)
		for i, c := range []*toolClient{first, second} {
			wait.Go(func() { replies[i] = c.call("note", args) })
		}
		wait.Wait()
		if ran := len(a.notes()); ran != round+1 {
			t.Fatalf("%d runs of %d approvals: %s, %s", ran, round+1, replies[0].text(), replies[1].text())
		}
	}
}

// A deny, and a revocation, count from then on, in servers that run.
func TestDenyAndRevoke(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "policy: {skills: {note: {approve: always}}}\n")
	c := a.serve("legacy", `{}`)
	id := c.waits(c.call("note", text("one")))
	if out, code := a.run("deny", id); code != 0 {
		t.Fatal(out)
	}
	c.fails(c.call("note", text("one")))
	a.wrote(0)

	id = c.waits(c.call("note", text("two")))
	a.approve(id)
	c.succeeds(c.call("note", text("three")), "wrote")
	if out, code := a.run("revoke", id); code != 0 {
		t.Fatal(out)
	}
	c.waits(c.call("note", text("four")))
	a.wrote(1)
}

// A run that needs a person's yes does not happen while the disk is full, and does when it
// is not any more. Others go on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, allForms)
	a.skill("look/SKILL.md", "---\nname: look\ndescription: d\nscript: run.sh\n---\n")
	a.skill("look/run.sh", "echo looked\n")
	if err := os.MkdirAll(a.state(), 0o700); err != nil {
		t.Fatal(err)
	}
	// The state folder is a file system of its own, which is small.
	a.under = []string{"unshare", "--mount", "bash", "-c", `mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"`, a.state()}
	if os.Geteuid() != 0 {
		a.under = slices.Insert(a.under, 1, "--map-root-user")
	}
	c := a.serve("modern", `{"elicitation":{}}`)
	c.succeeds(c.choose(c.call("note", text("before")), "once"), "wrote")
	fill := filepath.Join("/proc", fmt.Sprint(c.cmd.Process.Pid), "root", a.state("fill"))
	if err := os.WriteFile(fill, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}

	// The store's files have room that they do not use yet.
	ran := 1
	for ; ran < 1000; ran++ {
		r := c.call("note", text(fmt.Sprint(ran)))
		if r.asked != nil {
			r = c.choose(r, "once")
		}
		if r.Error == nil && !r.Result.IsError {
			continue
		}
		c.fails(r, "UNAVAILABLE")
		break
	}
	a.wrote(ran)
	if ran == 1000 {
		t.Error("a thousand runs were recorded on a full disk")
	}
	c.succeeds(c.call("look", map[string]any{}), "looked")

	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	c.succeeds(c.choose(c.call("note", text("after")), "once"), "wrote")
	a.wrote(ran + 1)
}
