package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// maxSecretForm bounds the form with a value, each of whose bytes may take three.
const maxSecretForm = 256 << 10

// secretScreens show the secrets of the principal. A value comes in the body of one form, and
// goes nowhere but to the store. A command that prints a value runs outside of any sandbox, so
// that no form sets one.
type secretScreens struct{ service api.SecretService }

// list lists the secrets.
func (s secretScreens) list(r *http.Request) (*content, error) {
	all, err := s.service.List(r.Context())
	if err != nil {
		return nil, err
	}
	wanted, err := s.service.Requests(r.Context())
	if err != nil {
		return nil, err
	}
	return &content{Title: "Secrets", Template: "secrets.html", Section: "secrets", Live: []string{"skills"}, Data: map[string]any{
		"Name": r.URL.Query().Get("name"), "Secrets": all, "Wanted": wanted,
	}}, nil
}

// set keeps the value of a form.
func (s secretScreens) set(r *http.Request) (string, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, maxSecretForm)
	if err := r.ParseForm(); err != nil {
		return "", &run.Error{Code: run.InvalidParam, Message: "the form cannot be read, or has more than a value of 64 KiB takes", Err: err}
	}
	return Path + "secrets", s.service.Set(r.Context(), r.PostFormValue("name"), r.PostFormValue("value"))
}

// confirmRemove asks whether a value is removed.
func (s secretScreens) confirmRemove(r *http.Request) (*content, error) {
	all, err := s.service.List(r.Context())
	if err != nil {
		return nil, err
	}
	name := r.URL.Query().Get("name")
	if !slices.ContainsFunc(all, func(one manage.Secret) bool { return one.Name == name }) {
		return nil, &run.Error{Code: run.NotFound, Message: "There is no secret of this name any more."}
	}
	return &content{Title: "Remove " + name, Template: "confirm.html", Section: "secrets", Data: confirmation{
		Lines:  []string{"Its value is removed for good. Its grants stay, and calls that need it fail."},
		Action: Path + "secrets/remove", Button: "Remove it", Back: Path + "secrets", Fields: [][2]string{{"name", name}},
	}}, nil
}

func (s secretScreens) remove(r *http.Request) (string, error) {
	return Path + "secrets", s.service.Remove(r.Context(), r.PostFormValue("name"))
}

// termsOf returns the terms of the fields of a form.
func termsOf(form url.Values) run.SecretGrant {
	return run.SecretGrant{
		Name: form.Get("name"), Hosts: strings.Fields(form.Get("hosts")), Methods: strings.Fields(form.Get("methods")), Paths: strings.Fields(form.Get("paths")),
		In: form["in"], Header: strings.TrimSpace(form.Get("header")), As: strings.TrimSpace(form.Get("as")),
		File: strings.TrimSpace(form.Get("file")), Extract: form.Get("extract"), Plain: form.Get("plain") != "",
	}
}

// grant shows the form of a grant with the fields of the query, and once these have terms,
// what the skill would have by its rule.
func (s secretScreens) grant(r *http.Request) (*content, error) {
	form := r.URL.Query()
	terms, problem := termsOf(form), ""
	if form.Has("hosts") {
		p, err := s.service.Propose(r.Context(), form.Get("skill"), terms)
		if err == nil {
			return confirmGrant(form, p), nil
		}
		problem = run.AsError(err).Message
	}
	return &content{Title: "Grant a secret", Template: "grant.html", Section: "secrets", Data: map[string]any{
		"Terms": terms, "Problem": problem, "Skill": form.Get("skill"), "Hosts": form.Get("hosts"), "Methods": form.Get("methods"), "Paths": form.Get("paths"),
		"Parts": []string{"header", "query", "path", "body"},
	}}, nil
}

// confirmGrant asks whether a rule is made, in the lines that a terminal shows.
func confirmGrant(form url.Values, p *manage.SecretProposal) *content {
	c := confirmation{
		Lines:   []string{"Your rule about the skill " + p.Rule.Pattern + ", from " + p.Rule.Origin + ", of the class " + string(p.Skill.Class) + " as it declares. It then:"},
		Details: p.Rule.Lines(), Action: Path + "secrets/grant", Button: "Grant it", Back: Path + "secrets", Fields: [][2]string{{"digest", p.Rule.Digest}},
	}
	if form.Get("plain") != "" {
		c.Lines = append([]string{"Plain is the weaker way: the skill sees the value, and can send it to any host that it has."}, c.Lines...)
	}
	for name, values := range form {
		for _, value := range values {
			c.Fields = append(c.Fields, [2]string{name, value})
		}
	}
	return &content{Title: "Grant " + form.Get("name") + " to " + p.Rule.Pattern, Template: "confirm.html", Section: "secrets", Data: c}
}

// makeGrant grants what was confirmed.
func (s secretScreens) makeGrant(r *http.Request) (string, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, maxSecretForm)
	digest := r.PostFormValue("digest") // which parses the form
	return Path + "secrets", s.service.Grant(r.Context(), r.PostForm.Get("skill"), api.SecretTerms{SecretGrant: termsOf(r.PostForm), Digest: digest})
}

func (s secretScreens) revoke(r *http.Request) (string, error) {
	return Path + "secrets", s.service.Revoke(r.Context(), r.PostFormValue("skill"), r.PostFormValue("name"))
}
