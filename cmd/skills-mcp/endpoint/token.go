// Package endpoint has the ways of clients and people to a server of this program: the bearer token,
// the addresses of the pages that are served now, and the notices of questions that wait.
//
// Start with [NewTokenReader] and [PagesOf].
package endpoint

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// TokenVariable holds the bearer token if no file does.
const TokenVariable = "SKILLS_MCP_TOKEN"

// The shortest token that is accepted, and the largest file that is read for one,
// in bytes.
const (
	minToken = 16
	maxToken = 64 << 10
)

// A TokenReader reads the bearer token, from no file that a skill could read.
type TokenReader struct {
	workspaces []string // folders
	roots      []string // folders in which skills are found
	made       string   // the file of the token that is made where none is configured; "" makes none
}

// tokenReader returns the reader of the token of a server with these settings.
func NewTokenReader(s *setup.Settings) *TokenReader {
	t := &TokenReader{workspaces: s.Workspaces.Folders, roots: s.Roots.Folders()}
	if dir := setup.StateDir(s.Home); dir != "" {
		t.made = filepath.Join(dir, "http-token")
	}
	return t
}

// A BearerToken is the token that clients must send.
type BearerToken struct {
	Text string // "" admits clients without one
	From string // the file or the variable that holds it
	Made bool   // not configured
}

// Token returns the token of a server: the configured one, or on a loopback address the
// one that is made at the first use and stays. On another, there may be none if clients can
// prove who they are by other means.
func (t *TokenReader) Token(s config.Serve, others bool) (BearerToken, error) {
	text, err := t.configured(s.TokenFile)
	switch {
	case err != nil:
		return BearerToken{}, err
	case text != "" && s.NoToken:
		return BearerToken{}, fmt.Errorf("--no-token asks for no token, and %s is set; leave one of them out", TokenVariable)
	case text != "":
		return BearerToken{text, cmp.Or(s.TokenFile, TokenVariable), false}, nil
	case s.NoToken:
		return BearerToken{}, nil
	case !IsLoopback(s.Listen) && others:
		return BearerToken{}, nil
	case !IsLoopback(s.Listen):
		return BearerToken{}, fmt.Errorf("other machines can reach %s: make tokens with skills-mcp token add NAME, give --token-file or %s, or --no-token to let everybody in", s.Listen, TokenVariable)
	case t.made == "":
		return BearerToken{}, errors.New("there is no folder for a token; set HOME, or give --token-file, or --no-token to ask for none")
	}
	text, err = t.own()
	return BearerToken{text, t.made, true}, err
}

// IsLoopback reports whether only this machine reaches an address.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// own returns the token of the state folder, which it makes if there is none. Programs
// that start at once agree on one.
func (t *TokenReader) own() (string, error) {
	if err := t.outside("token", t.made, madeRemedy); err != nil {
		return "", err
	}
	info, err := os.Lstat(t.made)
	if errors.Is(err, fs.ErrNotExist) {
		if err = atomicfile.Create(t.made, []byte(rand.Text()+"\n")); err == nil || errors.Is(err, fs.ErrExist) {
			info, err = os.Lstat(t.made)
		}
	}
	if err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	wrong := ""
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		wrong = "is no regular file"
	case runtime.GOOS != "windows" && mode.Perm()&0o077 != 0:
		wrong = fmt.Sprintf("has the mode %04o, so others may have read it", mode.Perm())
	case info.Size() != int64(len(rand.Text())+1):
		wrong = "does not hold a whole token"
	}
	if wrong != "" {
		return "", fmt.Errorf("the token file %s %s; remove it, start the server again, and connect its clients again", t.made, wrong)
	}
	text, err := os.ReadFile(t.made)
	return strings.TrimSpace(string(text)), err
}

// configured returns the token of a file or of the variable, or "".
func (t *TokenReader) configured(file string) (string, error) {
	text, from := os.Getenv(TokenVariable), TokenVariable
	if file != "" {
		data, err := t.readFile(file)
		if err != nil {
			return "", err
		}
		text, from = string(data), file
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "" && file == "":
		return "", nil
	case len(text) < minToken:
		return "", fmt.Errorf("the token in %s is shorter than %d characters; make one with: openssl rand -hex 32", from, minToken)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("the token in %s must be one word of visible ASCII characters", from)
	}
	return text, nil
}

// Secret returns the secret of a file, under the same conditions as a token.
func (t *TokenReader) Secret(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := t.readFile(file)
	return strings.TrimSpace(string(data)), err
}

// readFile reads a token file that neither a skill nor another user can read. Even a
// skill of the class safe reads every file of a workspace.
func (t *TokenReader) readFile(name string) ([]byte, error) {
	if err := t.outside("token", name, tokenRemedy); err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = private("token", name, info)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxToken))
	if err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	return data, nil
}

// CheckKey returns an error for the key of a certificate that a skill or another user can
// read.
func (t *TokenReader) CheckKey(name string, info fs.FileInfo) error {
	if err := t.outside("key", name, keyRemedy); err != nil {
		return err
	}
	return private("key", name, info)
}

// outside returns an error for a file in a workspace or where skills are found.
func (t *TokenReader) outside(secret, name, remedy string) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("read the %s: %w", secret, err)
	}
	for _, w := range t.workspaces {
		if setup.Lies(path, w) {
			return fmt.Errorf("the %s file %s is in the workspace %s, whose files every skill reads; %s", secret, name, w, remedy)
		}
	}
	for _, root := range t.roots {
		if setup.Lies(path, root) {
			return fmt.Errorf("the %s file %s is in %s, where skills are found; %s", secret, name, root, remedy)
		}
	}
	return nil
}

// Remedies for a file in a workspace: a configured token, a key, and a token that is made.
const (
	tokenRemedy = "move it to a folder of yours alone, such as ~/.config/skills-mcp, and make a new token if a server ran with this one"
	keyRemedy   = "move it to a folder of the server's user alone, and have a new key certified if a server ran with this one"
	madeRemedy  = "name a narrower workspace, or set XDG_STATE_HOME to a folder outside of it"
)

// private returns an error for a file that other users can read or write. The group of
// a file of root may read it, as administrators hand files to services so.
func private(secret, name string, info fs.FileInfo) error {
	mode := info.Mode()
	if runtime.GOOS == "windows" || mode.IsDir() || mode.Perm()&0o077 == 0 || mode.Perm()&0o037 == 0 && setup.OwnedBy(info, 0) {
		return nil
	}
	return fmt.Errorf("the %s file %s has the mode %04o, so other users read or write it; run: chmod 600 %s, and make a new %s if others may have read it", secret, name, mode.Perm(), name, secret)
}
