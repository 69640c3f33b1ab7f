package endpoint

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/web"
	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// pages are the pages that programs of this person serve now. Each has a file with its
// address in dir, and beside it a file that its program holds locked while it lives.
type Pages struct {
	dir    string // "" where there is no state folder
	Shared bool   // leads nobody to a page on a loopback address
	public string // URL of the page by which people elsewhere reach it; "" is none
}

// A pageAddress is the content of a page's file. It has no secret.
type pageAddress struct {
	URL string `json:"url"` // of the first screen
	PID int    `json:"pid"`
}

func PagesOf(s *setup.Settings) Pages {
	p := Pages{}
	if s.Serve.URL != "" && s.Serve.UI && s.Serve.Transport == "http" {
		p.public = s.Serve.URL + web.Path
	}
	if dir := setup.StateDir(s.Home); dir != "" {
		p.dir = filepath.Join(dir, "pages")
	}
	return p
}

// Publish lets other programs of the person find a page, until withdraw is called.
func (p Pages) Publish(address string) (withdraw func(), err error) {
	if p.dir == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	p.clean()
	name := filepath.Join(p.dir, strings.ToLower(rand.Text()[:12]))
	text, err := json.Marshal(pageAddress{address, os.Getpid()})
	if err != nil {
		return nil, err
	}
	lock := flock.New(name + ".lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	withdraw = func() { // one that stays is of no live page
		_ = os.Remove(name + ".json")
		_ = os.Remove(name + ".lock")
		_ = lock.Close()
	}
	if err := atomicfile.WriteBytes(name+".json", text); err != nil {
		withdraw()
		return nil, err
	}
	return withdraw, nil
}

// clean removes the files of programs that were killed.
func (p Pages) clean() {
	for _, name := range p.names() {
		if !isLocked(name + ".lock") {
			_ = os.Remove(name + ".json")
			_ = os.Remove(name + ".lock")
		}
	}
}

// names returns the files of all pages without their extensions, the newest first.
func (p Pages) names() []string {
	files, _ := filepath.Glob(filepath.Join(p.dir, "*.json")) // the pattern is right
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(modified(b), modified(a)) })
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".json")
	}
	return files
}

func modified(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// Approval returns the address of the screen that asks about an approval: on the page of the
// configured URL, or the newest that is served; ok is false without one.
func (p Pages) Approval(id string) (address string, ok bool) {
	if p.public != "" {
		return p.public + "approvals/" + url.PathEscape(id), true
	}
	if p.dir == "" {
		return "", false
	}
	for _, name := range p.names() {
		if !isLocked(name + ".lock") {
			continue
		}
		var found pageAddress
		text, err := os.ReadFile(name + ".json")
		if err == nil && json.Unmarshal(text, &found) == nil && isOwnPage(found.URL) && !(p.Shared && isLoopbackPage(found.URL)) {
			return found.URL + "approvals/" + url.PathEscape(id), true
		}
	}
	return "", false
}

// isOwnPage reports whether an address is one of a page that only a program of this machine
// can serve: another program may have written the file, to lead the person elsewhere.
func isOwnPage(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Port() == "" || address != "http://"+u.Host+web.Path && address != "https://"+u.Host+web.Path {
		return false
	}
	if IsLoopback(u.Host) {
		return true
	}
	own, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(own, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.String() == u.Hostname()
	})
}

func isLoopbackPage(address string) bool {
	u, err := url.Parse(address)
	return err == nil && IsLoopback(u.Host)
}

// isLocked reports whether a program holds a lock file.
func isLocked(file string) bool {
	lock := flock.New(file, flock.SetFlag(os.O_RDWR)) // which makes no file
	free, err := lock.TryLock()
	defer lock.Close()
	return err == nil && !free
}
