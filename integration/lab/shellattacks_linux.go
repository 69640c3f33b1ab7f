package lab

import (
	"database/sql"
	"errors"
	"io"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"
)

// Flood runs skills-mcp on a terminal on which prepared input is typed all the time.
func (a *Account) Flood(input []byte, args ...string) (screen string, code int) {
	a.T.Helper()
	cmd := a.Command(Binary, args...)
	blocking := a.attach(cmd)
	fd, err := unix.Dup(int(blocking.Fd()))
	blocking.Close()
	if err == nil {
		err = unix.SetNonblock(fd, true) // so that closing it ends a write
	}
	if err != nil {
		a.T.Fatal(err)
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
		a.T.Fatal(err)
	}
	return string(shown), cmd.ProcessState.ExitCode()
}

// InStore executes a statement in the person's store.
func (a *Account) InStore(statement string) {
	a.T.Helper()
	db, err := sql.Open("sqlite", "file:"+a.State("skills-mcp.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		a.T.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		a.T.Fatal(err)
	}
}
