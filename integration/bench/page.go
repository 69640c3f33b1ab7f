package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
)

// pages is a run of the suite page.
type pages struct {
	*bench
	size  int  // number of skills
	turns uint // how many times each address is asked for
}

// typed is a search as a person types it: each beginning is a key press. All skills match
// its words.
const typed = "description thing 42"

func pageSuite() suite {
	s := &pages{}
	return suite{
		name: "page", quick: []string{"skills=100", "turns=2"},
		about: `page starts "skills-mcp serve --ui" over HTTP with many skills, signs in, and asks for
the list of skills by one connection, as the page and as JSON, and then for each
beginning of a search that is typed letter by letter:

  ms     from the request to the last byte of the answer
  99% ms its 99th percentile
  KB     of the answer, as it is sent to a browser, which takes gzip
`,
		flags: func(f *flag.FlagSet) {
			f.IntVar(&s.size, "skills", 10_000, "how many skills there are")
			f.UintVar(&s.turns, "turns", 60, "how many times each is measured")
		},
		measure: func(ctx context.Context, b *bench) error {
			s.bench = b
			return s.run(ctx)
		},
	}
}

// run measures one server: an older one without a page has nothing to compare.
func (s *pages) run(ctx context.Context) (err error) {
	binaries, err := s.servers(ctx)
	if err != nil {
		return err
	}
	home := filepath.Join(s.dir, "page")
	token := filepath.Join(s.dir, "token")
	if err := errors.Join(catalog.Make(home, s.size), os.WriteFile(token, []byte(pageToken), 0o600)); err != nil {
		return err
	}
	p, err := binaries[0].serve(home, serveOptions{http: true, args: []string{"--ui", "--token-file", token}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	origin := strings.TrimSuffix(p.address, "/mcp")
	visitor, err := signIn(ctx, origin)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name      string
		addresses []string
	}{
		{"the screen of skills", []string{"/ui/"}},
		{"the skills as JSON", []string{"/v1/skills"}},
		{"a key press of a search", searches("/ui/?q=")},
	} {
		if err := s.ask(ctx, visitor, origin, c.name, c.addresses); err != nil {
			return err
		}
	}
	return nil
}

// pageToken is the bearer token of the server.
const pageToken = "the-token-of-the-benchmark"

// signIn returns a client with the cookie of a session.
func signIn(ctx context.Context, origin string) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	visitor := &http.Client{Jar: jar}
	form := url.Values{"token": {pageToken}, "next": {"/ui/"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+"/ui/signin", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	_, err = receive(visitor, request)
	return visitor, err
}

// searches returns the addresses of a search's beginnings.
func searches(prefix string) (all []string) {
	for i := range typed {
		all = append(all, prefix+url.QueryEscape(typed[:i+1]))
	}
	return all
}

// ask measures requests of one kind, after a round that is not counted.
func (s *pages) ask(ctx context.Context, visitor *http.Client, origin, name string, addresses []string) error {
	r := s.result(fmt.Sprintf("%s, of %d", name, s.size), "skills-mcp")
	var times []float64
	for round := range int(s.turns) + 1 {
		for _, address := range addresses {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+address, nil)
			if err != nil {
				return err
			}
			request.Header.Set("Accept-Encoding", "gzip") // so that it stays compressed
			began := time.Now()
			size, err := receive(visitor, request)
			if err != nil {
				return err
			}
			if round > 0 {
				took := milliseconds(time.Since(began))
				times = append(times, took)
				r.add("ms", took)
				r.add("KB", float64(size)/1000)
			}
		}
	}
	r.set("99% ms", percentile(times, 99))
	return nil
}

// receive sends a request and returns the size of the answer's body.
func receive(visitor *http.Client, request *http.Request) (int64, error) {
	response, err := visitor.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	size, err := io.Copy(io.Discard, response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", request.URL.Path, response.Status)
	}
	return size, err
}
