package signin

import (
	"bytes"
	"embed"
	"net/http"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/web/markup"
)

//go:embed signin.html
var source embed.FS

// A screen is the template of this package's screens, parsed when it is first shown.
type screen struct {
	once   sync.Once
	parsed *markup.Template // valid after once
	err    error            // likewise
}

// A view is the data of the template. It has one of Onward, Proof, Link and Ask.
type view struct {
	Title   string
	Problem string
	Onward  string // the path that the browser goes on to by itself
	Proof   string // of a used link, for the passphrase
	Link    string // of a token, to be used
	Ask     bool   // how to sign in
	Tokens  bool   // with a field for a token
	Links   bool   // with links of tokens
	Issuer  string // at which people sign in; "" is none
	Start   string // leads there
	Next    string // the path after it
}

func (s *screen) show(w http.ResponseWriter, status int, v view) {
	s.once.Do(func() { s.parsed, s.err = markup.Parse(source, []string{"signin.html"}, nil) })
	var text bytes.Buffer
	err := s.err
	if err == nil {
		err = s.parsed.Execute(&text, "signin.html", v)
	}
	if err != nil {
		http.Error(w, "the screen cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}
