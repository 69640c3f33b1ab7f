package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// problems are the texts of git, ssh and curl, in lower case, by which a problem is
// known. The first that fits counts.
var problems = [...]struct {
	problem Problem
	texts   []string
	remedy  string // %s is the URL
}{
	{UnknownHost, []string{"host key verification failed"}, "connect once with ssh, and compare the key with the one that the host publishes"},
	{Authentication, []string{"permission denied (", "authentication failed", "could not read username", "could not read password", "terminal prompts disabled", "returned error: 401", "returned error: 403", "invalid credentials"},
		"if the repository is private, log in so that git can reach it without a question (git ls-remote %s): with a credential helper or an ssh agent; else correct its name"},
	{Certificate, []string{"certificate", "ssl peer"}, "correct the clock or the certificates of this machine; do not switch the check off"},
	{Busy, []string{"returned error: 429", "returned error: 503", "returned error: 502", "returned error: 504", "returned error: 500"}, "try again later"},
	{Other, []string{"mismatched algorithms"}, "ask its owner for one whose objects have names by SHA-1"},
	{NotFound, []string{"returned error: 404", "returned error: 410", "repository not found", "not appear to be a git repository", "access denied", "not exported", "' not found", "no such repository", "does not exist"}, "correct the name; a private repository looks the same without credentials (git ls-remote %s)"},
	{Network, []string{"could not resolve host", "failed to connect", "unable to connect", "couldn't connect", "connection refused", "timed out", "unreachable", "connection reset", "early eof", "unexpected disconnect", "hung up", "rpc failed", "operation too slow", "unable to look up", "empty reply", "closed by remote host", "invalid index-pack output", "error: unable to read", "expected flush", "transfer closed", "unable to access"}, "check the connection and try again"},
}

// explain returns the error of a git process for people.
func (r *repository) explain(err error, ref string) error {
	var failed *failure
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return &Error{NoGit, "git is not installed", "install git, or give an archive of the repository as the source"}
	case errors.Is(err, errPackTooLarge):
		return &Error{TooLarge, fmt.Sprintf("the repository has more than %d MiB", r.limit>>20), "name a folder of it, or give an archive of the skill as the source"}
	case errors.Is(err, errIdle), errors.Is(err, context.DeadlineExceeded):
		return &Error{Network, fmt.Sprintf("fetch %s: nothing comes from the server", r.url), "try again later"}
	case errors.Is(err, errMissing):
		return &Error{NoRef, fmt.Sprintf("the repository has no commit %q, or not all of its files", ref), "correct it; give a branch or tag if the server keeps the commit back"}
	case !errors.As(err, &failed):
		return err
	}
	for _, p := range problems {
		if failed.has(p.texts...) {
			remedy := p.remedy
			if strings.Contains(remedy, "%s") {
				remedy = fmt.Sprintf(remedy, r.url)
			}
			return &Error{p.problem, fmt.Sprintf("fetch %s: %s (%s)", r.url, p.problem, failed.short()), remedy}
		}
	}
	return &Error{Other, fmt.Sprintf("fetch %s: %s", r.url, failed.short()), ""}
}

// maxDetail bounds the text of git in an error, in bytes.
const maxDetail = 300

// short returns the line that says most, without characters that a terminal acts on.
func (f *failure) short() string {
	line := ""
	for text := range strings.Lines(f.stderr) {
		text = strings.TrimSpace(text)
		if line == "" || strings.HasPrefix(text, "fatal: ") || strings.HasPrefix(text, "error: ") || strings.HasPrefix(text, "remote: ") && !strings.HasPrefix(line, "fatal: ") {
			line = text
		}
	}
	line = strings.TrimPrefix(line, "fatal: ")
	line = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, line)
	if line == "" {
		line = f.err.Error()
	}
	return truncate.String(line, maxDetail)
}
