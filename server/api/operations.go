package api

import (
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/result"
)

// A List is all items of a kind.
type List[T any] struct {
	Items []T `json:"items"`
}

// Enabled says whether a skill is enabled for everybody.
type Enabled struct {
	Enabled bool `json:"enabled"`
}

// Pinned says whether a skill keeps its tool, however many skills there are.
type Pinned struct {
	Pinned bool `json:"pinned"`
}

// approvalQuery selects approvals.
type approvalQuery struct {
	Ended bool `json:"ended,omitempty" jsonschema_description:"also those that have ended"`
}

// operations returns all operations. Those of one path follow each other.
func operations() []operation {
	all := append(skillOperations(), runOperations()...)
	all = append(all, approvalOperations()...)
	all = append(all, profileOperations()...)
	return append(all,
		operation{
			method: "GET", path: "plugins", id: "listPlugins", does: "List the plugins", result: List[describe.Plugin]{},
			answer: `{"items":[]}`,
			serve:  func(x *exchange) (any, error) { return list(x.service.Plugins(x.Context())) },
		},
		operation{
			method: "GET", path: "doctor", id: "diagnose", does: "Diagnose the machine", who: persons, result: Diagnosis{},
			answer: `{"sections":[{"name":"sandbox","findings":[{"subject":"engine","level":"ok","detail":"Docker 28"}]}],"ok":true}`,
			serve:  func(x *exchange) (any, error) { return x.service.Doctor(x.Context()) },
		},
		operation{
			method: "GET", path: "openapi.json", id: "describe", does: "Get this document", result: map[string]any{},
			serve: func(x *exchange) (any, error) {
				body, err := x.document()
				return reply{jsonMedia, body, nil}, err
			},
		},
	)
}

func skillOperations() []operation {
	return []operation{
		{
			method: "GET", path: "skills", id: "listSkills", does: "List or search the skills", query: SkillQuery{}, result: SkillPage{},
			answer: `{"items":[{"name":"hello","tool":"hello","source":"user","class":"safe","kind":"executable","state":"ready","description":"Says hello.","reach":"tool","reach_why":"there is room","file":"/home/ann/.claude/skills/hello/SKILL.md","title":"Hello","enabled":true,"pinned":false}],"total":1}`,
			serve: func(x *exchange) (any, error) {
				var q SkillQuery
				return take(x, &q, func() (*SkillPage, error) { return x.service.Skills(x.Context(), q) })
			},
		},
		{
			method: "GET", path: "skills/{name}", id: "getSkill", does: "Describe a skill in full", result: describe.Skill{},
			serve: func(x *exchange) (any, error) { return x.service.Skill(x.Context(), x.PathValue("name")) },
		},
		{
			method: "POST", path: "skills/{name}/execute", id: "executeSkill",
			does: "Run a skill. The answer comes when it has ended; as text/event-stream, its output comes while it runs, and with Prefer: respond-async, only the run to poll. A client that leaves ends the run, unless it sent an Idempotency-Key or Prefer: respond-async",
			body: Execution{}, result: result.Run{}, media: eventMedia, more: []string{"Idempotency-Key", "Prefer"}, errors: []int{410, 422, 429, 500, 503, 504},
			ask: `{"params":{"name":"Ann"}}`, answer: `{"skill":"hello","run_id":"r1","exit_code":0,"stdout":"hello Ann\n","stderr":"","wall_time_ms":41,"truncated":false}`,
			serve: execute,
		},
		{
			method: "GET", path: "skills/{name}/enabled", id: "getEnabled", does: "Tell whether a skill is enabled", result: Enabled{},
			answer: `{"enabled":true}`,
			serve: func(x *exchange) (any, error) {
				item, err := x.service.Item(x.Context(), x.PathValue("name"))
				return Enabled{err == nil && item.Enabled}, err
			},
		},
		{
			method: "PUT", path: "skills/{name}/enabled", id: "setEnabled", does: "Enable or disable a skill for everybody", who: persons, body: Enabled{}, result: Enabled{},
			ask: `{"enabled":false}`, answer: `{"enabled":false}`,
			serve: func(x *exchange) (any, error) {
				var to Enabled
				return take(x, &to, func() (Enabled, error) {
					return to, x.service.SetEnabled(x.Context(), x.PathValue("name"), to.Enabled)
				})
			},
		},
		{
			method: "GET", path: "skills/{name}/pinned", id: "getPinned", does: "Tell whether a skill keeps its tool", result: Pinned{},
			answer: `{"pinned":false}`,
			serve: func(x *exchange) (any, error) {
				item, err := x.service.Item(x.Context(), x.PathValue("name"))
				return Pinned{err == nil && item.Pinned}, err
			},
		},
		{
			method: "PUT", path: "skills/{name}/pinned", id: "setPinned", does: "Keep the tool of a skill, however many there are, or no longer", who: persons, body: Pinned{}, result: Pinned{},
			ask: `{"pinned":true}`, answer: `{"pinned":true}`,
			serve: func(x *exchange) (any, error) {
				var to Pinned
				return take(x, &to, func() (Pinned, error) {
					return to, x.service.SetPinned(x.Context(), x.PathValue("name"), to.Pinned)
				})
			},
		},
	}
}

func runOperations() []operation {
	return []operation{
		{
			method: "GET", path: "runs", id: "listRuns", does: "List runs, the newest first: a person sees all, another principal its own", query: RunQuery{}, result: RunPage{},
			answer: `{"items":[]}`,
			serve: func(x *exchange) (any, error) {
				var q RunQuery
				return take(x, &q, func() (*RunPage, error) { return x.service.Runs(x.Context(), q) })
			},
		},
		{
			method: "GET", path: "runs/{id}", id: "getRun", does: "Get a run. As text/event-stream, the output of one that this server holds comes while it runs, after the event of Last-Event-ID", result: Run{}, media: eventMedia, more: []string{"Last-Event-ID"},
			answer: `{"id":"r1"}`,
			serve:  getRun,
		},
		{
			method: "DELETE", path: "runs/{id}", id: "cancelRun", does: "End a run", status: http.StatusNoContent,
			serve: func(x *exchange) (any, error) { return nil, x.service.CancelRun(x.Context(), x.PathValue("id")) },
		},
		{
			method: "GET", path: "runs/{id}/outputs/{path...}", id: "getOutput", does: "Get an output of a run, while it is kept: stdout, stderr, or out/ and the path of a file", media: anyMedia,
			serve: getOutput,
		},
	}
}

func approvalOperations() []operation {
	return []operation{
		{
			method: "GET", path: "approvals", id: "listApprovals", does: "List the questions that wait and the approvals that count", query: approvalQuery{}, result: List[*approval.Record]{},
			answer: `{"items":[]}`,
			serve: func(x *exchange) (any, error) {
				var q approvalQuery
				return take(x, &q, func() (any, error) { return list(x.service.Approvals(x.Context(), q.Ended)) })
			},
		},
		{
			method: "GET", path: "approvals/{id}", id: "getApproval", does: "Get a question, with its answers", result: approval.Record{},
			serve: func(x *exchange) (any, error) { return x.service.Approval(x.Context(), x.PathValue("id")) },
		},
		{
			method: "POST", path: "approvals/{id}", id: "answerApproval", does: "Answer a question. A script can answer once", who: andScripts, body: Answer{}, result: approval.Record{}, more: []string{tokenHeader},
			ask: `{"scope":"once"}`,
			serve: func(x *exchange) (any, error) {
				var a Answer
				return take(x, &a, func() (*approval.Record, error) {
					a.Token = x.Header.Get(tokenHeader)
					return x.service.Answer(x.Context(), x.PathValue("id"), a)
				})
			},
		},
		{
			method: "DELETE", path: "approvals/{id}", id: "revokeApproval", does: "Withdraw an approval, or a question", who: persons, status: http.StatusNoContent,
			serve: func(x *exchange) (any, error) { return nil, x.service.Revoke(x.Context(), x.PathValue("id")) },
		},
	}
}

func profileOperations() []operation {
	return []operation{
		{
			method: "GET", path: "profiles", id: "listProfiles", does: "List the profiles of the configuration", who: persons, result: List[string]{},
			answer: `{"items":["ci"]}`,
			serve:  func(x *exchange) (any, error) { return list(x.service.Profiles(x.Context())) },
		},
		{
			method: "GET", path: "profiles/{name}/skills", id: "listProfileSkills", does: "List the skills of a profile, the highest priority first", who: persons, query: ProfileQuery{}, result: ProfilePage{},
			answer: `{"items":[` + profileExample + `],"total":1}`,
			serve: func(x *exchange) (any, error) {
				var q ProfileQuery
				return take(x, &q, func() (*ProfilePage, error) { return x.service.ProfileSkills(x.Context(), x.PathValue("name"), q) })
			},
		},
		{
			method: "GET", path: "profiles/{name}/skills/{skill}", id: "getProfileSkill", does: "Get a skill under a profile", who: persons, result: ProfileSkill{},
			answer: profileExample,
			serve: func(x *exchange) (any, error) {
				return x.service.ProfileSkill(x.Context(), x.PathValue("name"), x.PathValue("skill"))
			},
		},
		{
			method: "PUT", path: "profiles/{name}/skills/{skill}", id: "setProfileSkill", does: "Assign a skill to a profile, enable it there, or order it. A field that is left out stays", who: persons, body: ProfileChange{}, result: ProfileSkill{},
			ask: `{"enabled":true,"priority":3}`, answer: profileExample,
			serve: func(x *exchange) (any, error) {
				var c ProfileChange
				return take(x, &c, func() (*ProfileSkill, error) {
					return x.service.SetProfileSkill(x.Context(), x.PathValue("name"), x.PathValue("skill"), c)
				})
			},
		},
		{
			method: "GET", path: "profiles/{name}/skills/{skill}/test", id: "testProfileSkill", does: "Tell what calls of a skill would meet under a profile. Nothing runs, and nobody is asked", who: persons, result: List[describe.Outlook]{},
			answer: `{"items":[]}`,
			serve: func(x *exchange) (any, error) {
				return list(x.service.TestProfile(x.Context(), x.PathValue("name"), x.PathValue("skill")))
			},
		},
	}
}

const profileExample = `{"name":"hello","class":"safe","assigned":true,"enabled":true,"priority":3}`

// list returns items as a list.
func list[T any](items []T, err error) (List[T], error) {
	if items == nil {
		items = []T{}
	}
	return List[T]{items}, err
}
