package manifest

import (
	"cmp"
	"errors"
	"io/fs"
	"mime"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
	"github.com/yosida95/uritemplate/v3"
	"gopkg.in/yaml.v3"
)

// maxResources bounds the resources of one skill.
const maxResources = 64

// maxMIMEType bounds the length of a type, in bytes.
const maxMIMEType = 128

// reserved are the schemes of URIs that mean something already.
func reserved() []string {
	return []string{"data", "file", "http", "https", "plugin", "run", "skill", "skills-mcp", "ui"}
}

// resources reads the resources that clients can read. One that cannot be used
// costs itself.
func (p resourceReader) resources() {
	node := p.fields.get("resources")
	if node == nil {
		return
	}
	if node.Kind != yaml.SequenceNode {
		p.fields.wrongType("resources", "a list")
		return
	}
	for i, item := range node.Content {
		item = deref(item)
		at := posOf(item)
		if i == maxResources {
			p.report(skills.Warning, at, "declare fewer", "there are more than %d resources; the rest is ignored", maxResources)
			return
		}
		resource, rejected := p.resource(newFields(item, p.report), at)
		if rejected != nil {
			p.report(skills.Warning, rejected.at, rejected.remedy, "a resource is ignored: %s", rejected.message)
			continue
		}
		p.skill.Resources = append(p.skill.Resources, resource)
	}
}

func (p resourceReader) resource(f fields, at Position) (skills.Resource, *Error) {
	r := skills.Resource{
		URI:         f.text("uri"),
		Template:    f.text("uri_template"),
		Title:       f.text("title"),
		Description: f.text("description"),
		MIMEType:    f.text("mime_type"),
		File:        f.text("file"),
		Line:        at.Line,
	}
	if r.MIMEType != "" && !isMIMEType(r.MIMEType) {
		f.wrongType("mime_type", "a type such as text/plain")
		r.MIMEType = ""
	}
	r.Name = cmp.Or(f.text("name"), path.Base(r.File))
	if r.Name == "." {
		r.Name = p.skill.Name
	}
	rejected := p.checkURI(r, at)
	if rejected == nil {
		rejected = p.checkSource(&r, at)
	}
	return r, rejected
}

func isMIMEType(text string) bool {
	parsed, _, err := mime.ParseMediaType(text)
	return err == nil && strings.Contains(parsed, "/") && len(text) <= maxMIMEType
}

// scheme matches the start of a URI (RFC 3986, 3.1), in lower case as is usual, and uri a
// whole one (2).
var (
	scheme = lazyregexp.New(`^([a-z][a-z0-9+.-]*):.`)
	uri    = lazyregexp.New(`^(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$`)
)

// maxURI is the maximum length of a URI or a template, in bytes.
const maxURI = 512

// checkURI checks the resource's URI or template.
func (p resourceReader) checkURI(r skills.Resource, at Position) *Error {
	shown := truncate.String(r.Key(), maxEcho)
	m := scheme.FindStringSubmatch(r.Key())
	switch {
	case (r.URI == "") == (r.Template == ""):
		return Errorf(at, "write either uri or uri_template", "it has no URI, or two")
	case len(r.Key()) > maxURI:
		return Errorf(at, "write a URI such as notes://today", "%q is longer than %d bytes", shown, maxURI)
	case m == nil:
		return Errorf(at, "write a URI such as notes://today", "%q does not begin with a scheme in lower case, such as notes: in notes:today", shown)
	case slices.Contains(reserved(), m[1]):
		return Errorf(at, "use a scheme of your own, such as notes:", "%q has the scheme %s:, which means something already", shown, m[1])
	case r.Template != "":
		return checkTemplate(r.Template, at)
	case strings.ContainsAny(r.URI, "{}"):
		return Errorf(at, "call it uri_template", "%q has variables", shown)
	case !uri.MatchString(r.URI):
		return Errorf(at, "write a URI such as notes://today", "%q has characters that a URI cannot have", shown)
	}
	return nil
}

// checkTemplate checks a template of RFC 6570, level 1: each variable is written as {name},
// once, and with something before it that tells where it begins.
func checkTemplate(text string, at Position) *Error {
	template, err := uritemplate.New(text)
	if err != nil {
		return Errorf(at, "write a template such as notes://{day}", "%q is no template: %v", truncate.String(text, maxEcho), err)
	}
	names, plain := template.Varnames(), text
	for _, name := range names {
		plain = strings.Replace(plain, "{"+name+"}", "x", 1)
	}
	if len(names) == 0 || strings.Contains(text, "}{") || !uri.MatchString(plain) {
		return Errorf(at, "write a template such as notes://{day}", "%q has not each variable once, as {name}, with text before it", truncate.String(text, maxEcho))
	}
	return nil
}

// checkSource checks that there is something to read, and cleans File.
func (p resourceReader) checkSource(r *skills.Resource, at Position) *Error {
	switch {
	case r.File == "" && p.skill.Entry == nil:
		return Errorf(at, "name a file of the skill's folder, or a script of the skill", "there is nothing to read it from")
	case r.File == "":
		return checkVariables(p.skill.Entry, *r, at)
	case r.Template != "":
		return Errorf(at, "give the file a uri", "a template cannot be one file")
	}
	name, err := infer.FindScript(p.skill, r.File)
	if errors.Is(err, fs.ErrNotExist) {
		return Errorf(at, "create it or correct the path", "file %q does not exist", truncate.String(r.File, maxEcho))
	}
	if err != nil {
		return Errorf(at, "name a file of the skill's folder", "file %q: %v", truncate.String(r.File, maxEcho), err)
	}
	r.File = name
	return nil
}

// checkVariables checks that the script has the variables as parameters, and
// requires no others. Arguments that are inferred from the source come later.
func checkVariables(e *skills.Entry, r skills.Resource, at Position) *Error {
	if e.Inferred {
		return nil
	}
	var names []string
	if template, err := uritemplate.New(r.Template); err == nil {
		names = template.Varnames()
	}
	for _, name := range names {
		if !declares(e, name) {
			return Errorf(at, "declare it in params", "the template uses the undeclared parameter %q", name)
		}
	}
	for _, p := range e.Params() {
		if p.Required && !slices.Contains(names, p.Name) {
			return Errorf(at, "make it a variable of a uri_template, or optional", "the script requires the parameter %q, which the URI does not have", p.Name)
		}
	}
	return nil
}
