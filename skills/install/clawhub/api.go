package clawhub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

const (
	maxAnswer  = 8 << 20 // bytes of an answer in JSON
	maxFiles   = 20_000
	maxArchive = 256 << 20 // bytes
	maxMessage = 300       // bytes of a registry's text in an error
	maxMatches = 20        // of an ambiguous slug
)

// A registry is an open ClawHub registry.
type registry struct {
	client *download.Client
	base   *url.URL // of its API, without /api/v1
	named  bool     // base's host is the person's choice
	host   string   // for messages
}

// open finds the API of a registry: the site may name another host for it.
func open(ctx context.Context, client *download.Client, location string, named bool) (*registry, error) {
	site, err := url.Parse(strings.TrimRight(location, "/"))
	if err != nil {
		return nil, fmt.Errorf("the registry: %w", err)
	}
	r := &registry{client, site, named, site.Host}
	var found struct {
		APIBase string `json:"apiBase"`
	}
	err = r.send(ctx, download.Get{URL: site.Scheme + "://" + site.Host + "/.well-known/clawhub.json"}, &found)
	var status *download.StatusError
	var syntax *json.SyntaxError
	switch {
	case err == nil && found.APIBase != "":
		return r, r.move(found.APIBase)
	case err != nil && !errors.As(err, &status) && !errors.As(err, &syntax):
		return nil, err
	}
	return r, nil
}

// move sets the base of the API to the one that the site names. Unless it is the site's
// own, its host must be public.
func (r *registry) move(base string) error {
	to, err := url.Parse(strings.TrimSuffix(strings.TrimRight(base, "/"), "/api/v1"))
	if err != nil || to.Host == "" || to.User != nil {
		return &source.RefusedError{Reason: fmt.Sprintf("%s names %q as its API, which is not a URL", r.host, printable(base, maxMessage))}
	}
	r.named = r.named && to.Scheme == r.base.Scheme && strings.EqualFold(to.Host, r.base.Host)
	r.base = to
	return nil
}

// url returns the URL of a call.
func (r *registry) url(path string, query url.Values) string {
	text := strings.TrimRight(r.base.String(), "/") + "/api/v1" + path
	if len(query) > 0 {
		text += "?" + query.Encode()
	}
	return text
}

func (r *registry) get(ctx context.Context, path string, query url.Values, answer any) error {
	return r.send(ctx, download.Get{URL: r.url(path, query)}, answer)
}

// send makes a call and decodes its answer.
func (r *registry) send(ctx context.Context, get download.Get, answer any) error {
	get.Named, get.Limit, get.JSON = r.named, maxAnswer, true
	body, _, err := r.client.Get(ctx, get)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("%s does not answer as a ClawHub registry does: %w", r.host, err)
	}
	return nil
}

// explain returns the error of a call about something for the person.
func (r *registry) explain(err error, of string) error {
	var status *download.StatusError
	if !errors.As(err, &status) {
		return err
	}
	text := printable(string(status.Body), maxMessage)
	var why refusal
	if json.Unmarshal(status.Body, &why) == nil && why.Message != "" {
		text = printable(why.Message, maxMessage)
	}
	switch status.Status {
	case http.StatusNotFound:
		return fmt.Errorf("%s has no %s; check its name, or search for it", r.host, of)
	case http.StatusGone:
		return &source.RefusedError{Reason: fmt.Sprintf("the %s was deleted from %s (it says %q)", of, r.host, text), Remedy: "choose another version or skill"}
	case http.StatusConflict:
		if several := ambiguous(status.Body); several != nil {
			return several
		}
	case http.StatusForbidden, http.StatusLocked, http.StatusUnavailableForLegalReasons:
		return r.refused(text, why.Reason)
	}
	return fmt.Errorf("%w about the %s: %q", status, of, text)
}

// refused returns the error of a registry that does not let a skill be installed.
func (r *registry) refused(text, reason string) error {
	remedy := "choose another skill"
	if strings.Contains(reason, "pending") || strings.Contains(reason, "unknown") {
		remedy = "try again later, when the registry has looked at it"
	}
	return &source.RefusedError{Reason: fmt.Sprintf("%s does not let it be installed: %q", r.host, printable(text, maxMessage)), Remedy: remedy}
}

// ambiguous returns the error for a slug that several owners have, nil if the body does not
// tell them.
func ambiguous(body []byte) error {
	var a ambiguity
	if json.Unmarshal(body, &a) != nil || a.Code != "AMBIGUOUS_SKILL_SLUG" || len(a.Matches) == 0 {
		return nil
	}
	var names []string
	for _, m := range a.Matches[:min(len(a.Matches), maxMatches)] {
		names = append(names, "clawhub:"+printable(m.OwnerHandle+"/"+m.Slug, 200))
	}
	slices.Sort(names)
	return fmt.Errorf("several owners have it; write one of %s", strings.Join(names, ", "))
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// printable returns the beginning of a stranger's text, without what a terminal would act
// on.
func printable(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unprintable(r) {
			return ' '
		}
		return r
	}, text)
	return truncate.String(strings.TrimSpace(text), limit)
}
