package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/server/web/form"
	"github.com/skillsmcp/skills-mcp/server/web/markdown"
	"github.com/skillsmcp/skills-mcp/server/web/markup"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// runForms are the forms of arguments, and the screens of the runs that they start.
type runForms struct{ *Page }

// maxForm bounds the arguments that a browser sends, in bytes.
const maxForm = 8 << 20

// A jobScreen is the data of the screen of a run that this server holds.
type jobScreen struct {
	jobs.Snapshot
	ID, Skill string
	Began     time.Time
	Exit      int    // its code, of a run that ended by itself
	Progress  string // the last, while it runs
	Count     *jobs.Count
	Log       string
	Asked     []*pending
	Output    string      // the result or the output, JSON indented
	Rendered  markup.HTML // the output, where it is Markdown
	Files     []outFile
}

// maxLog bounds the part of a log that is shown, in bytes.
const maxLog = 64 << 10

// A pending question waits for the person's answer.
type pending struct {
	jobs.Question
	About  *question  // of an approval; else nil
	Fields *form.Form // of a form; else nil
	Error  string
}

// An outFile is a file that a run left.
type outFile struct {
	result.File
	Path     string
	Rendered markup.HTML // a short text of Markdown
}

// newOutFiles returns the files of a run's result; none for nil.
func newOutFiles(id string, done *result.Run) (all []outFile) {
	if done == nil {
		return nil
	}
	for _, f := range done.Out {
		file := outFile{File: f, Path: jobPath(id) + "/out/" + escapedPath(f.Name)}
		if strings.HasPrefix(f.MIMEType, "text/markdown") && f.Text != "" {
			file.Rendered = markdown.Render(termtext.Text(f.Text), nil)
		}
		all = append(all, file)
	}
	return all
}

// markdownSigns match the parts of Markdown that plain output seldom has.
var markdownSigns = lazyregexp.New(`(?m)^#{1,6} \S|^\x60{3}|^\|?[ :]*---[-:| ]*\||\*\*[^*\s][^*\n]*\*\*|\]\(https?://`)

// looksLikeMarkdown reports whether an output begins with a heading, or has two signs.
func looksLikeMarkdown(text string) bool {
	found := markdownSigns.FindAll([]byte(text), 2)
	return len(found) == 2 || len(found) == 1 && found[0][0] == '#' && strings.HasPrefix(strings.TrimSpace(text), string(found[0]))
}

// job shows a run. One that is no longer held leads to its record.
func (p runForms) job(r *http.Request) (*content, error) {
	c, err := p.jobContent(r, nil)
	if err == nil {
		return c, nil
	}
	if found, noRecord := p.options.Service.Run(r.Context(), r.PathValue("id")); noRecord == nil {
		return nil, moved(Path + "runs/" + url.PathEscape(found.ID))
	}
	return nil, err
}

// jobContent returns the screen of a run. The answered question, if there is one, shows
// what was typed.
func (p runForms) jobContent(r *http.Request, answered *pending) (*content, error) {
	job, err := p.options.Service.Job(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	s := newJobScreen(job.ID, job.Skill, job.Snapshot(0))
	s.Began = job.Began
	for i, q := range s.Asked {
		if answered != nil && q.ID == answered.ID {
			s.Asked[i] = answered
		}
	}
	return &content{Title: "Run of " + termtext.Legible(job.Skill), Template: "job.html", Section: "runs", Live: []string{"run/" + job.ID}, Data: s}, nil
}

// recordedArgs returns the arguments of a run, as they are recorded; ok is false without a
// record.
func (p runForms) recordedArgs(ctx context.Context, id string) (args map[string]any, ok bool) {
	found, err := p.options.Service.Run(ctx, id)
	if err != nil || found.Record == nil {
		return nil, false
	}
	value, err := skills.DecodeJSON(cmp.Or(string(found.Record.Args), "{}"))
	args, ok = value.(map[string]any)
	return args, ok && err == nil
}

func newJobScreen(id, skill string, snapshot jobs.Snapshot) *jobScreen {
	s := &jobScreen{Snapshot: snapshot, ID: id, Skill: skill}
	var log strings.Builder
	for _, e := range snapshot.Events {
		switch e.Kind {
		case jobs.Progress:
			if s.Progress = e.Text; e.Count != nil {
				s.Count = e.Count
			}
		case jobs.Stdout, jobs.Stderr, jobs.Dropped:
			log.WriteString(e.Text)
			if !strings.HasSuffix(e.Text, "\n") {
				log.WriteByte('\n')
			}
		}
	}
	if snapshot.State == jobs.Ended {
		s.Progress, s.Count = "", nil
	}
	s.Log = truncate.String(log.String(), maxLog)
	for _, q := range snapshot.Questions {
		s.Asked = append(s.Asked, newPending(q))
	}
	if done := snapshot.Result; done != nil {
		if done.ExitCode != nil {
			s.Exit = *done.ExitCode
		}
		var out bytes.Buffer
		switch s.Output = done.Stdout; {
		case done.Stdout == "" && len(done.Result) > 0:
			s.Output = shownJSON(done.Result)
		case !done.Truncated && json.Indent(&out, []byte(done.Stdout), "", "  ") == nil:
			s.Output = out.String()
		case looksLikeMarkdown(done.Stdout):
			s.Rendered = markdown.Render(termtext.Text(done.Stdout), nil)
		}
		s.Files = newOutFiles(id, done)
	}
	return s
}

func jobPath(id string) string { return Path + "jobs/" + url.PathEscape(id) }

// newPending returns a question with the form that answers it.
func newPending(q jobs.Question) *pending {
	asked := &pending{Question: q}
	if q.Approval != nil {
		about := newQuestion(q.Approval)
		asked.About = &about
		return asked
	}
	fields, err := form.New(q.Form, q.ID+"-")
	if err != nil {
		fields, asked.Error = &form.Form{}, "The form cannot be shown: "+err.Error()
	}
	asked.Fields = fields
	return asked
}

// answerJob answers a question of a run: the fields question, and action or scope.
func (p runForms) answerJob(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	job, err := p.options.Service.Job(r.Context(), r.PathValue("id"))
	if err != nil {
		p.fail(w, r, err)
		return
	}
	id := r.PostFormValue("question")
	questions := job.Snapshot(0).Questions
	at := slices.IndexFunc(questions, func(q jobs.Question) bool { return q.ID == id })
	if at < 0 { // it was answered elsewhere: the screen shows how it goes on
		http.Redirect(w, r, jobPath(job.ID), http.StatusSeeOther)
		return
	}
	q := newPending(questions[at])
	a, err := q.read(r)
	if err == nil {
		err = api.AnswerJob(r.Context(), job, questions[at], a)
	}
	if err == nil {
		http.Redirect(w, r, jobPath(job.ID), http.StatusSeeOther)
		return
	}
	q.Error = run.AsError(err).Message
	c, err := p.jobContent(r, q)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.show(w, r, http.StatusUnprocessableEntity, c)
}

// read returns the answer of a browser.
func (q *pending) read(r *http.Request) (jobs.Answer, error) {
	a := jobs.Answer{Action: r.PostFormValue("action"), Scope: approval.Scope(r.PostFormValue("scope"))}
	if q.Approval != nil {
		if a.Action = "accept"; a.Scope == "" || a.Scope == approval.No {
			a.Action = "decline"
		}
		return a, nil
	}
	if a.Action != "accept" {
		return a, nil
	}
	values := q.Fields.Read(r.PostForm)
	if q.Fields.Invalid {
		return a, &run.Error{Code: run.InvalidParam, Message: "Some values are wrong."}
	}
	var err error
	a.Content, err = json.Marshal(values)
	return a, err
}

// cancel ends a run.
func (p runForms) cancel(r *http.Request) (string, error) {
	id := r.PathValue("id")
	return jobPath(id), p.options.Service.CancelRun(r.Context(), id)
}

// output serves a file that a run left.
func (p runForms) output(w http.ResponseWriter, r *http.Request) {
	p.serveOutput(w, r, "out/"+r.PathValue("file"))
}

// stream serves the whole standard output or error of a run.
func (p runForms) stream(w http.ResponseWriter, r *http.Request) {
	p.serveOutput(w, r, r.PathValue("piece"))
}

func (p runForms) serveOutput(w http.ResponseWriter, r *http.Request, piece string) {
	item, err := p.options.Service.Output(r.Context(), r.PathValue("id"), piece)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	// A link to it makes no screen of its own, which could look like one of the page.
	framed := r.URL.Query().Has("frame") && r.Header.Get("Sec-Fetch-Dest") != "document"
	serveHostile(w, piece, item.MIMEType, item.Data, framed)
}

// shownJSON returns JSON in several lines, without characters that are not seen, and
// without the codes that the record has for those of HTML.
func shownJSON(data json.RawMessage) string {
	var value any
	var text strings.Builder
	from, to := json.NewDecoder(bytes.NewReader(data)), json.NewEncoder(&text)
	from.UseNumber()
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if from.Decode(&value) != nil || to.Encode(value) != nil {
		return termtext.Visible(string(data))
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = termtext.Visible(line)
	}
	return strings.Join(lines, "\n")
}
