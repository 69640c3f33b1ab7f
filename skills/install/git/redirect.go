package git

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxRedirects bounds the addresses that a repository is looked for at.
const maxRedirects = 3

// redirect replaces the URL by the one that its server redirects to. Git does not follow
// redirects here: it would also go to a private address.
func (r *repository) redirect(ctx context.Context) error {
	const query = "/info/refs?service=git-upload-pack"
	to, err := location302(ctx, strings.TrimSuffix(r.url, "/")+query)
	if err != nil {
		return fmt.Errorf("follow the redirect of %s: %w", r.url, err)
	}
	base, ok := strings.CutSuffix(to.String(), query)
	if !ok {
		return refuse(fmt.Sprintf("%s redirects to %s, which is no repository", r.url, to.Redacted()), "name the repository itself")
	}
	next, err := parseLocation(base)
	if err != nil {
		return err
	}
	if next.plain && !r.plain {
		return refuse(fmt.Sprintf("%s redirects to a connection that is not encrypted", r.url), "name the repository itself")
	}
	if next.host != r.host {
		if err := r.fetcher.checkPublic(ctx, next.host); err != nil {
			return err
		}
	}
	r.location, r.env = next, r.fetcher.environment(next.protocols)
	return nil
}

// location302 returns the address that a server redirects to.
func location302(ctx context.Context, from string) (*url.URL, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	response.Body.Close()
	if response.StatusCode < 300 || response.StatusCode > 399 {
		return nil, errors.New("the server answers otherwise the second time")
	}
	return response.Location()
}
