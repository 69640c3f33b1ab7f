package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/icon"
	"github.com/skillsmcp/skills-mcp/server/web/signin"
)

//go:embed static
var staticFiles embed.FS

// An asset is a static file of the page: several of the folder static, one after another.
type asset struct {
	kind    string // Content-Type
	pattern string // of its files; "" for one that is not in the folder
	once    sync.Once
	plain   []byte // this and the fields below are valid after once
	sum     string
}

// assets are the static files by name, each read at its first use.
type assets map[string]*asset

func newAssets() assets {
	return assets{
		"page.css": {kind: "text/css; charset=utf-8", pattern: "static/*.css"},
		"page.js":  {kind: "text/javascript; charset=utf-8", pattern: "static/*.js"},
		"mark.svg": {kind: "image/svg+xml", plain: []byte(icon.SVG())},
	}
}

// url returns the path of an asset, which changes with its contents.
func (a assets) url(name string) string {
	return signin.Path + "static/" + name + "?v=" + a[name].load().sum
}

// serve answers a request for an asset. One with the sum of its contents may be cached for
// good; the sign-in screen, which knows no sum, has it checked each time.
func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	found := a[path.Base(r.URL.Path)]
	if found == nil {
		http.NotFound(w, r)
		return
	}
	found.load()
	header := w.Header()
	header.Set("Content-Type", found.kind)
	header.Set("ETag", `"`+found.sum+`"`)
	header.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == found.sum {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if r.Header.Get("If-None-Match") == `"`+found.sum+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(found.plain)
}

// load reads the files of an asset, once.
func (a *asset) load() *asset {
	a.once.Do(func() {
		names, _ := fs.Glob(staticFiles, a.pattern) // the pattern is right
		for _, name := range names {
			text, _ := staticFiles.ReadFile(name) // embedded files can be read
			a.plain = append(append(a.plain, text...), '\n')
		}
		sum := sha256.Sum256(a.plain)
		a.sum = hex.EncodeToString(sum[:8])
	})
	return a
}
