package integration

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // as a model's own program would write the store
)

// A model that has a shell is not the person: no command approves without a terminal, with
// input that was prepared, or by what is written into the store.
func TestModelWithShell(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	c := a.serve("legacy", `{}`)
	id := c.waits(c.call("note", text("one")))
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
		"trust":                   {"trust", a.workspace},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := a.command(binary, args...)
			cmd.Stdin = bytes.NewReader(prepared)
			if out, code := a.finish(cmd); code == 0 {
				t.Errorf("exit 0: %s", out)
			}
			// On a terminal, with everything typed before the question is there.
			cmd = a.command("script", "--quiet", "--return", "--command", "skills-mcp "+strings.Join(args, " "), "/dev/null")
			cmd.Stdin = bytes.NewReader(prepared)
			if out, code := a.finish(cmd); code == 0 {
				t.Errorf("script: exit 0: %s", out)
			}
			if screen, code := a.flood(prepared, args...); code == 0 {
				t.Errorf("a terminal that is typed on all the time: exit 0: %s", screen)
			}
		})
	}
	a.wrote(0)
	c.waits(c.call("note", text("one")))
	// The person's own yes still counts.
	a.approve(c.waits(c.call("note", text("one"))))
	c.succeeds(c.call("note", text("one")), "wrote")
	a.wrote(1)
}

// flood runs skills-mcp on a terminal on which prepared input is typed all the time.
func (a *account) flood(input []byte, args ...string) (screen string, code int) {
	a.t.Helper()
	cmd := a.command(binary, args...)
	blocking := a.attach(cmd)
	fd, err := unix.Dup(int(blocking.Fd()))
	blocking.Close()
	if err == nil {
		err = unix.SetNonblock(fd, true) // so that closing it ends a write
	}
	if err != nil {
		a.t.Fatal(err)
	}
	person := os.NewFile(uintptr(fd), "terminal")
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		for {
			if _, err := person.Write(input); err != nil {
				return
			}
		}
	}()
	shown, _ := io.ReadAll(person) // ends in an error when the program has ended
	err = cmd.Wait()
	person.Close()
	<-typed
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		a.t.Fatal(err)
	}
	return string(shown), cmd.ProcessState.ExitCode()
}

// Rows that a program writes into the store approve nothing, and neither does a store that
// is broken or gone.
func TestStoreIsWritten(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	c := a.serve("legacy", `{}`)
	id := c.waits(c.call("note", text("one")))
	used := c.waits(c.call("note", text("used")))
	a.approve(used)
	c.succeeds(c.call("note", text("used")), "wrote")
	given := c.waits(c.call("note", text("given")))
	a.approve(given)

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
			a.inStore(statement)
			c.waits(c.call("note", text("one")))
			c.waits(c.call("note", text("used")))
		})
	}
	c.waits(c.call("note", text("given"))) // the real one was changed, too
	a.wrote(1)
}

// inStore executes a statement in the person's store.
func (a *account) inStore(statement string) {
	a.t.Helper()
	db, err := sql.Open("sqlite", "file:"+a.state("skills-mcp.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		a.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		a.t.Fatal(err)
	}
}

// A store that cannot be read approves nothing, and says so.
func TestStoreIsBroken(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"empty": "", "not a database": strings.Repeat("not a database ", 1000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := nativeAccount(t, "")
			c := a.serve("legacy", `{}`)
			a.approve(c.waits(c.call("note", text("one"))))
			if err := c.close(); err != nil {
				t.Error(err)
			}
			for _, file := range []string{"skills-mcp.db-wal", "skills-mcp.db-shm"} {
				_ = os.Remove(a.state(file))
			}
			writeFile(t, a.state("skills-mcp.db"), content)
			c = a.serve("legacy", `{}`)
			c.fails(c.call("note", text("one")))
			a.wrote(0)
			if _, err := os.Stat(filepath.Dir(a.state("x"))); err != nil {
				t.Error(err)
			}
		})
	}
}

// There is no page yet: no address approves, over HTTP either.
func TestNoPageApproves(t *testing.T) {
	t.Parallel()
	url, stop := serveHTTP(t, nil)
	for _, path := range []string{"/", "/approvals", "/approvals/abc", "/approve", "/approve/abc", "/page", "/ui", "/api/approvals"} {
		for _, method := range []string{"GET", "POST", "PUT"} {
			if response := request(t, method, url+path, strings.NewReader(`{"answer":"once"}`)); response.StatusCode != 404 {
				t.Errorf("%s %s: %s", method, path, response.Status)
			}
		}
	}
	stop()
}
