package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/complete"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/web/form"
)

// A tryScreen is the data of the form of a skill's arguments.
type tryScreen struct {
	*describe.Skill
	Form *form.Form
	// Folders are the workspaces that a call sees; Workspace is the chosen one, "" is all.
	Folders   []string
	Workspace string
	// Paths are suggestions for paths: those at the top of the workspace, for a person.
	Paths []string
}

// suggest returns the paths that begin with a text, in the workspaces that a call sees.
func (s *tryScreen) suggest(text string) []string {
	seen := s.Folders
	if slices.Contains(seen, s.Workspace) {
		seen = []string{s.Workspace}
	}
	return complete.Paths(seen, text).Values
}

// paths answers with the paths that begin with the field text, as JSON, to a person: no
// other principal is told of files.
func (p runForms) paths(w http.ResponseWriter, r *http.Request) {
	s, err := p.newTryScreen(r)
	if err == nil && !isPerson(r.Context()) {
		err = errNotPerson(r.Context())
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	s.Workspace = r.URL.Query().Get("workspace")
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.suggest(r.URL.Query().Get("text"))) // to a browser that may be gone
}

// tryForm shows the form, with the arguments of the run that the query names as from.
func (p runForms) tryForm(r *http.Request) (*content, error) {
	s, err := p.newTryScreen(r)
	if err != nil {
		return nil, err
	}
	if from := r.URL.Query().Get("from"); from != "" {
		if args, ok := p.recordedArgs(r.Context(), from); ok {
			s.Form.Fill(args)
		}
	}
	return s.content(), nil
}

func (s *tryScreen) content() *content {
	for _, field := range s.Form.Fields {
		field.Upload = field.Kind == form.Long
	}
	return &content{Title: "Try " + titleOf(s.Skill), Template: "try.html", Section: "skills", Data: s}
}

func (p runForms) newTryScreen(r *http.Request) (*tryScreen, error) {
	info, err := p.options.Service.Skill(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	if info.Parameters == nil {
		return nil, &run.Error{Code: run.InvalidParam, Message: "This skill has nothing to run: it has instructions alone."}
	}
	parameters, err := json.Marshal(info.Parameters)
	if err != nil {
		return nil, err
	}
	s := &tryScreen{Skill: info}
	if s.Form, err = form.New(parameters, "f"); err != nil {
		return nil, &run.Error{Code: run.Unavailable, Message: "The schema of its parameters cannot be used: " + err.Error(), Err: err}
	}
	if info.Call != nil {
		for _, m := range info.Call.Mounts {
			if m.From == m.Path {
				s.Folders = append(s.Folders, m.Path)
			}
		}
	}
	if isPerson(r.Context()) {
		s.Paths = s.suggest("")
	}
	found, err := p.options.Service.Find(r.Context(), info.Name)
	if err == nil && found.Entry != nil { // the schema, which clients get, says nothing of paths
		for _, param := range found.Entry.Params() {
			for _, field := range s.Form.Fields {
				field.IsPath = field.IsPath || param.Path && param.Name == field.Name
			}
		}
	}
	return s, nil
}

// readUploads puts the texts of the files that a browser sent into the values of their
// fields, and returns why some cannot be. A file is kept nowhere, and its name is not read.
func readUploads(r *http.Request, f *form.Form) map[*form.Field]string {
	wrong := map[*form.Field]string{}
	for _, field := range f.Fields {
		file, header, err := r.FormFile("file." + field.Control())
		if field.Kind != form.Long || err != nil || header.Size == 0 { // none was chosen
			continue
		}
		data, err := io.ReadAll(file) // as large as a form may be
		_ = file.Close()              // of memory
		if err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			wrong[field] = "the file is not text in UTF-8: put it into the workspace, and name its path"
			continue
		}
		r.PostForm.Set(field.Control(), string(data))
	}
	return wrong
}

// try starts a run, and leads to its screen. Wrong arguments stay in the form.
func (p runForms) try(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s, err := p.newTryScreen(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if err := r.ParseMultipartForm(maxForm); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		p.fail(w, r, &run.Error{Code: run.InvalidParam, Message: "The form cannot be read, or is larger than 8 MB: put large values into a file of the workspace.", Err: err})
		return
	}
	wrong := readUploads(r, s.Form)
	args := s.Form.Read(r.PostForm)
	for field, why := range wrong {
		field.Error, s.Form.Invalid = why, true
	}
	s.Workspace = r.PostForm.Get("workspace")
	if !s.Form.Invalid {
		job, err := p.options.Service.Execute(r.Context(), s.Name, api.Execution{Params: args, Workspace: s.Workspace, Ask: true})
		if err == nil {
			http.Redirect(w, r, Path+"jobs/"+job.ID, http.StatusSeeOther)
			return
		}
		wrong := run.AsError(err)
		if wrong.Code != run.InvalidParam {
			p.fail(w, r, err)
			return
		}
		s.Form.Errors = append(s.Form.Errors, wrong.Message)
	}
	p.show(w, r, http.StatusUnprocessableEntity, s.content())
}
