package consent

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	_ "modernc.org/sqlite"
)

// A model that has a shell is not the person: no command approves without a terminal, with
// input that was prepared, or by what is written into the store.
func TestModelWithShell(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	c := a.Serve("legacy", `{}`)
	id := c.Waits(c.Call("note", lab.Text("one")))
	// All the numbers that may be asked for, and the words that other programs accept.
	prepared := []byte(strings.Repeat("y\nyes\nonce\nalways\n1\n\n", 200))

	for name, args := range map[string][]string{
		"approve":                 {"approve", id},
		"approve --yes":           {"approve", id, "--yes"},
		"approve as somebody":     {"approve", id, "--as", "root"},
		"run":                     {"run", "note", "--text", "one"},
		"run --yes":               {"--yes", "run", "note", "--text", "one"},
		"run with a yes as input": {"run", "note", "--text", "one", "--yes"},
		"grant":                   {"grant", "note", "--network", "example.com:443"},
		"trust":                   {"trust", a.Workspace},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := a.Command(lab.Binary, args...)
			cmd.Stdin = bytes.NewReader(prepared)
			if out, code := a.Finish(cmd); code == 0 {
				t.Errorf("exit 0: %s", out)
			}
			// On a terminal, with everything typed before the question is there.
			cmd = a.Command("script", "--quiet", "--return", "--command", "skills-mcp "+strings.Join(args, " "), "/dev/null")
			cmd.Stdin = bytes.NewReader(prepared)
			if out, code := a.Finish(cmd); code == 0 {
				t.Errorf("script: exit 0: %s", out)
			}
			if screen, code := a.Flood(prepared, args...); code == 0 {
				t.Errorf("a terminal that is typed on all the time: exit 0: %s", screen)
			}
		})
	}
	a.Wrote(0)
	c.Waits(c.Call("note", lab.Text("one")))
	// The person's own yes still counts.
	a.Approve(c.Waits(c.Call("note", lab.Text("one"))))
	c.Succeeds(c.Call("note", lab.Text("one")), "wrote")
	a.Wrote(1)
}

// Rows that a program writes into the store approve nothing, and neither does a store that
// is broken or gone.
func TestStoreIsWritten(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	c := a.Serve("legacy", `{}`)
	id := c.Waits(c.Call("note", lab.Text("one")))
	used := c.Waits(c.Call("note", lab.Text("used")))
	a.Approve(used)
	c.Succeeds(c.Call("note", lab.Text("used")), "wrote")
	given := c.Waits(c.Call("note", lab.Text("given")))
	a.Approve(given)

	for name, statement := range map[string]string{
		"a pending one is given":   `UPDATE decisions SET state = (SELECT state FROM decisions WHERE key = '` + given + `') WHERE key = '` + id + `'`,
		"a used one is given":      `UPDATE decisions SET state = (SELECT state FROM decisions WHERE key = '` + given + `') WHERE key = '` + used + `'`,
		"a given one's content":    `UPDATE decisions SET (body, notes, proofs) = (SELECT body, notes, proofs FROM decisions WHERE key = '` + given + `'), state = 'given', expires = expires + 1000000 WHERE key = '` + id + `'`,
		"another copy of a given":  `INSERT INTO decisions SELECT kind, 'copied', owner, about, state, expires, body, notes, proofs, mac FROM decisions WHERE key = '` + given + `'`,
		"a longer life":            `UPDATE decisions SET expires = expires + 1000000 WHERE key = '` + given + `'`,
		"no MAC":                   `UPDATE decisions SET mac = x'' WHERE key = '` + given + `'`,
		"another skill's approval": `UPDATE decisions SET about = 'other' WHERE key = '` + given + `'`,
	} {
		t.Run(name, func(t *testing.T) {
			a.InStore(statement)
			c.Waits(c.Call("note", lab.Text("one")))
			c.Waits(c.Call("note", lab.Text("used")))
		})
	}
	c.Waits(c.Call("note", lab.Text("given"))) // the real one was changed, too
	a.Wrote(1)
}

// A store that cannot be read approves nothing, and says so.
func TestStoreIsBroken(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"empty": "", "not a database": strings.Repeat("not a database ", 1000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := lab.NativeAccount(t, "")
			c := a.Serve("legacy", `{}`)
			a.Approve(c.Waits(c.Call("note", lab.Text("one"))))
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			for _, file := range []string{"skills-mcp.db-wal", "skills-mcp.db-shm"} {
				_ = os.Remove(a.State(file))
			}
			lab.WriteFile(t, a.State("skills-mcp.db"), content)
			c = a.Serve("legacy", `{}`)
			c.Fails(c.Call("note", lab.Text("one")))
			a.Wrote(0)
			if _, err := os.Stat(filepath.Dir(a.State("x"))); err != nil {
				t.Error(err)
			}
		})
	}
}

// There is no page yet: no address approves, over HTTP either.
func TestNoPageApproves(t *testing.T) {
	t.Parallel()
	url, stop := lab.ServeHTTP(t, nil)
	for _, path := range []string{"/", "/approvals", "/approvals/abc", "/approve", "/approve/abc", "/page", "/ui", "/api/approvals"} {
		for _, method := range []string{"GET", "POST", "PUT"} {
			if response := lab.Request(t, method, url+path, strings.NewReader(`{"answer":"once"}`)); response.StatusCode != 404 {
				t.Errorf("%s %s: %s", method, path, response.Status)
			}
		}
	}
	stop()
}
