package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxTrials bounds the skills of a profile's screen: each has a form.
const maxTrials = 300

// profileScreens show and change the profiles of clients, for the person alone.
type profileScreens struct{ service *api.Service }

func profilePath(name string) string { return Path + "profiles/" + url.PathEscape(name) }

// list lists the profiles, with a form for a new one.
func (s profileScreens) list(r *http.Request) (*content, error) {
	type row struct {
		Name, Path string
		Configured bool
		Fields     [][2]string
	}
	var rows []row
	for _, p := range api.ProfilesOf(s.service).List(r.Context()) {
		rows = append(rows, row{p.Name, profilePath(p.Name), p.Configured, p.Fields()})
	}
	return &content{Title: "Profiles", Template: "profiles.html", Section: "profiles", Data: rows}, nil
}

// A profileField is a list of a profile, a line each in its form.
type profileField struct{ Name, Label, Help, Text string }

// show shows a profile: its form, and what each skill is for its clients.
func (s profileScreens) show(r *http.Request) (*content, error) {
	p, err := api.ProfilesOf(s.service).Find(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	trials, err := api.TryProfile(r.Context(), s.service, p.Name)
	if err != nil {
		return nil, err
	}
	type row struct {
		Skill, State   string
		Off, First     bool
		Place, Address string
	}
	rows := make([]row, 0, min(len(trials), maxTrials))
	for _, t := range trials[:min(len(trials), maxTrials)] {
		why, off := strings.CutPrefix(t.State, "off: ")
		one := row{Skill: t.Skill, State: why, Off: off, Address: skillPath(t.Skill)}
		if at := slices.Index(p.Pin, t.Skill); at >= 0 {
			one.First, one.Place = true, strconv.Itoa(at+1)
		}
		rows = append(rows, one)
	}
	var env []string
	for _, field := range p.Fields() {
		if field[0] == "env" {
			env = append(env, field[1])
		}
	}
	return &content{Title: "Profile " + p.Name, Template: "profile.html", Section: "profiles", Live: []string{"skills"}, Data: map[string]any{
		"Path": profilePath(p.Name), "Name": p.Name, "Configured": p.Configured, "Fields": p.Fields(), "Skills": rows, "More": len(trials) - len(rows),
		"Mode": string(p.Mode), "Class": string(p.Class), "Slots": strconv.Itoa(p.MaxConcurrent), "Timeout": p.Timeout.String(), "Workspace": p.Workspace,
		"Modes": []string{"read-only", "confirm", "dual-sign"}, "Classes": []string{"safe", "mutating", "dangerous"},
		"Lists": []profileField{
			{"allow", "Allowed skills", "Patterns such as team/*, one a line. Empty: all. none: no skill.", lineList(p.Allow)},
			{"deny", "Denied skills", "Patterns, one a line. The narrower pattern counts.", lineList(p.Deny)},
			{"pin", "First skills", "Patterns of the skills that are shown first, in this order.", lineList(p.Pin)},
			{"capabilities", "Capabilities", "That skills may require. Empty: any.", lineList(p.Capabilities)},
			{"secrets", "Secrets", "Names of those that calls may have, of the granted ones. Empty: any. none: no secret.", lineList(p.Secrets)},
			{"env", "Variables", "NAME=VALUE for the skills that name them. They are no secrets.", strings.Join(env, "\n")},
		},
	}}, nil
}

// lineList returns a list as a form has it.
func lineList(list []string) string {
	if list != nil && len(list) == 0 {
		return "none"
	}
	return strings.Join(list, "\n")
}

// linesOf returns the list of a field of a form; nil is none.
func linesOf(text string) []string {
	var all []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	if slices.Equal(all, []string{"none"}) {
		return []string{}
	}
	return all
}

// profileOf returns the profile of a form.
func profileOf(form url.Values) (p policy.Profile, err error) {
	invalid := func(message string) error { return &run.Error{Code: run.InvalidParam, Message: message} }
	p = policy.Profile{
		Mode: policy.Mode(form.Get("mode")), Class: skills.Class(form.Get("class")), Workspace: strings.TrimSpace(form.Get("workspace")),
		Allow: linesOf(form.Get("allow")), Deny: linesOf(form.Get("deny")), Pin: linesOf(form.Get("pin")),
		Capabilities: linesOf(form.Get("capabilities")), Secrets: linesOf(form.Get("secrets")),
	}
	if slots := strings.TrimSpace(form.Get("slots")); slots != "" {
		if p.MaxConcurrent, err = strconv.Atoi(slots); err != nil {
			return p, invalid("The number of calls at once is no number.")
		}
	}
	if err := p.Timeout.UnmarshalText([]byte(strings.TrimSpace(form.Get("timeout")))); err != nil {
		return p, invalid(err.Error())
	}
	for _, variable := range linesOf(form.Get("env")) {
		name, value, assigned := strings.Cut(variable, "=")
		if !assigned {
			return p, invalid("A variable is written NAME=VALUE.")
		}
		if p.Env == nil {
			p.Env = map[string]string{}
		}
		p.Env[name] = value
	}
	return p, nil
}

// choose changes what a profile says of one skill.
func choose(p *policy.Profile, skill, to string) {
	without := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return one == skill })
	}
	switch to {
	case "deny":
		p.Allow, p.Deny = without(p.Allow), append(without(p.Deny), skill)
	case "allow":
		p.Deny = without(p.Deny)
		if p.Allow == nil && len(p.Deny) > 0 { // a pattern may deny it
			p.Allow = []string{"*"}
		}
		if p.Allow != nil {
			p.Allow = append(without(p.Allow), skill)
		}
	case "first":
		p.Pin = append([]string{skill}, without(p.Pin)...)
	case "unpin":
		p.Pin = without(p.Pin)
	}
}

// form returns the fields of a request's form.
func (s profileScreens) form(r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, maxSecretForm)
	if err := r.ParseForm(); err != nil {
		return nil, &run.Error{Code: run.InvalidParam, Message: "the form cannot be read, or is too long", Err: err}
	}
	return r.PostForm, nil
}

// add makes an empty profile, which no client has yet.
func (s profileScreens) add(r *http.Request) (string, error) {
	form, err := s.form(r)
	if err != nil {
		return "", err
	}
	p, err := api.ProfilesOf(s.service).Put(r.Context(), policy.NamedProfile{Name: strings.TrimSpace(form.Get("name"))}, true)
	return profilePath(p.Name), err
}

// save replaces a profile by that of a form.
func (s profileScreens) save(r *http.Request) (string, error) {
	form, err := s.form(r)
	if err != nil {
		return "", err
	}
	to, err := profileOf(form)
	if err != nil {
		return "", err
	}
	p, err := api.ProfilesOf(s.service).Put(r.Context(), policy.NamedProfile{Name: r.PathValue("name"), Profile: to}, false)
	return profilePath(p.Name), err
}

// chooseSkill changes what a profile says of a skill.
func (s profileScreens) chooseSkill(r *http.Request) (string, error) {
	form, err := s.form(r)
	if err != nil {
		return "", err
	}
	p, err := api.ProfilesOf(s.service).Find(r.Context(), r.PathValue("name"))
	if err != nil {
		return "", err
	}
	choose(&p.Profile, form.Get("skill"), form.Get("to"))
	_, err = api.ProfilesOf(s.service).Put(r.Context(), p, false)
	return profilePath(p.Name) + "#skills", err
}

// confirmRemove asks whether a profile is removed.
func (s profileScreens) confirmRemove(r *http.Request) (*content, error) {
	p, err := api.ProfilesOf(s.service).Find(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	return &content{Title: "Remove the profile " + p.Name, Template: "confirm.html", Section: "profiles", Data: confirmation{
		Lines:  []string{"No skill exists then for the clients that have it."},
		Action: profilePath(p.Name) + "/remove", Button: "Remove it", Back: profilePath(p.Name),
	}}, nil
}

func (s profileScreens) remove(r *http.Request) (string, error) {
	return Path + "profiles", api.ProfilesOf(s.service).Remove(r.Context(), r.PathValue("name"))
}
