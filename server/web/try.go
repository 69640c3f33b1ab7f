package web

import (
	"encoding/json"
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/web/form"
)

// routes mounts the form of a skill's arguments, and the screens of runs that this
// server holds.
func (p runForms) routes(r *router) {
	r.get("skills/{name}/try", p.tryForm)
	r.raw("POST "+Path+"skills/{name}/try", p.try)
	r.get("jobs/{id}", p.job)
	r.raw("POST "+Path+"jobs/{id}/answer", p.answerJob)
	r.post("jobs/{id}/cancel", p.cancel)
	r.raw("GET "+Path+"jobs/{id}/{piece}", p.stream)
	r.raw("GET "+Path+"jobs/{id}/out/{file...}", p.output)
}

// A tryScreen is the data of the form of a skill's arguments.
type tryScreen struct {
	*describe.Skill
	Form *form.Form
	// Folders are the workspaces that a call sees; Workspace is the chosen one, "" is all.
	Folders   []string
	Workspace string
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
	return s, nil
}

// try starts a run, and leads to its screen. Wrong arguments stay in the form.
func (p runForms) try(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s, err := p.newTryScreen(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if err := r.ParseForm(); err != nil {
		p.fail(w, r, &run.Error{Code: run.InvalidParam, Message: "The form cannot be read, or is larger than 8 MB: put large values into a file of the workspace.", Err: err})
		return
	}
	args := s.Form.Read(r.PostForm)
	s.Workspace = r.PostForm.Get("workspace")
	if r.PostForm.Has("more") {
		s.Form.Grow()
		p.show(w, r, http.StatusOK, s.content())
		return
	}
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
