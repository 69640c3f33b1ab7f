package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// executeID is the operation whose problems have the member error.
const executeID = "executeSkill"

// execute runs a skill.
func execute(x *exchange) (any, error) {
	var e Execution
	if err := x.decode(&e); err != nil {
		return nil, err
	}
	job, err := x.service.Execute(x.request.Context(), x.request.PathValue("name"), e)
	if err != nil {
		return nil, err
	}
	if prefers(x.request.Header, "respond-async") {
		return nil, x.poll(job)
	}
	defer job.Cancel() // nothing, after its end
	if streams(x.request.Header) {
		return nil, x.stream(job, 0)
	}
	return x.wait(job)
}

// poll answers with the run to poll.
func (x *exchange) poll(job *jobs.Job) error {
	state := job.Snapshot(0)
	body, err := encode(&Run{ID: job.ID, Live: &state})
	if err != nil {
		return err
	}
	x.begun = true
	header := x.w.Header()
	protect(header)
	header.Set("Content-Type", jsonMedia)
	header.Set("Location", Path+"runs/"+job.ID)
	header.Set("Preference-Applied", "respond-async")
	x.w.WriteHeader(http.StatusAccepted)
	_, _ = x.w.Write(body)
	return nil
}

// wait answers with the end of a run.
func (x *exchange) wait(job *jobs.Job) (any, error) {
	// The client has sent everything, and may wait for as long as the run takes.
	_ = http.NewResponseController(x.w).SetReadDeadline(time.Time{}) // where it can be set
	if err := job.Wait(x.request.Context(), math.MaxInt); err != nil {
		return nil, err
	}
	s := job.Snapshot(math.MaxInt)
	if s.Err != nil {
		return nil, &runError{s.Err, s.Result}
	}
	return &Run{ID: job.ID, Live: &s}, nil
}

// keepAlive is the time after which a silent stream says that it is there.
const keepAlive = 15 * time.Second

// An End is the last event of a run: "end".
type End struct {
	Seq    int         `json:"seq"`
	At     time.Time   `json:"at"`
	Kind   string      `json:"kind"`
	Result *result.Run `json:"result,omitempty"`
	Error  *run.Error  `json:"error,omitempty"`
}

// stream answers with the events of a run after one of a number, as server-sent events.
func (x *exchange) stream(job *jobs.Job, after int) error {
	x.begun = true
	control, header := http.NewResponseController(x.w), x.w.Header()
	_ = control.SetReadDeadline(time.Time{}) // where it can be set
	protect(header)
	header.Set("Content-Type", eventMedia)
	x.w.WriteHeader(http.StatusOK)
	for {
		s := job.Snapshot(after)
		text, last, err := events(s, after)
		if err != nil {
			return err
		}
		after = last
		text = cmp.Or(text, ": it runs\n\n")
		x.extend()
		if _, err := x.w.Write([]byte(text)); err != nil || control.Flush() != nil || s.State == jobs.Ended {
			return err
		}
		waiting, stop := context.WithTimeout(x.request.Context(), keepAlive)
		err = job.Wait(waiting, after)
		stop()
		if err != nil && x.request.Context().Err() != nil {
			return err
		}
	}
}

// events returns the events of a snapshot as server-sent events, with the number of the
// last. The one of the end has the result.
func events(s jobs.Snapshot, after int) (text string, last int, err error) {
	var b strings.Builder
	add := func(seq int, kind string, event any) {
		data, failed := json.Marshal(event)
		if failed != nil {
			err = failed
		}
		fmt.Fprintf(&b, "id: %d\nevent: %s\ndata: %s\n\n", seq, kind, data)
	}
	end := End{Seq: after + 1, At: time.Now(), Kind: jobs.End, Result: s.Result, Error: s.Err}
	for _, e := range s.Events {
		if e.Kind == jobs.End {
			end.Seq, end.At = e.Seq, e.At
			continue
		}
		add(e.Seq, e.Kind, e)
		after, end.Seq = e.Seq, e.Seq+1
	}
	if s.State == jobs.Ended {
		add(end.Seq, end.Kind, end)
	}
	return b.String(), after, err
}

// getRun answers with a run, or with its events.
func getRun(x *exchange) (any, error) {
	id := x.request.PathValue("id")
	if !streams(x.request.Header) {
		return x.service.Run(x.request.Context(), id)
	}
	job, err := x.service.Job(x.request.Context(), id)
	if err != nil {
		return nil, err
	}
	after := 0
	if last := x.request.Header.Get("Last-Event-ID"); last != "" {
		if after, err = strconv.Atoi(last); err != nil || after < 0 {
			return nil, refuse(http.StatusBadRequest, "Last-Event-ID must be the id of an event")
		}
	}
	return nil, x.stream(job, after)
}

// getOutput answers with an output. Skills have written it: no browser shows it as a page
// of the server.
func getOutput(x *exchange) (any, error) {
	piece := x.request.PathValue("path")
	item, err := x.service.Output(x.request.Context(), x.request.PathValue("id"), piece)
	if err != nil {
		return nil, err
	}
	media, _, err := mime.ParseMediaType(item.MIMEType)
	if err != nil {
		media = "application/octet-stream"
	}
	return reply{media, item.Data, map[string]string{"Content-Disposition": Attachment(path.Base(piece))}}, nil
}

// Attachment returns the header of a file that a browser saves.
func Attachment(name string) string {
	if header := mime.FormatMediaType("attachment", map[string]string{"filename": name}); header != "" {
		return header
	}
	return "attachment"
}

// streams reports whether a client asks for events.
func streams(header http.Header) bool {
	return strings.Contains(strings.Join(header.Values("Accept"), ","), eventMedia)
}

// prefers reports whether a client has a preference (RFC 7240).
func prefers(header http.Header, preference string) bool {
	for each := range strings.FieldsFuncSeq(strings.Join(header.Values("Prefer"), ","), func(r rune) bool { return strings.ContainsRune(", ;", r) }) {
		if strings.EqualFold(each, preference) {
			return true
		}
	}
	return false
}
