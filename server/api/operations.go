package api

import (
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/policy"
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

// A subagentQuery selects subagents.
type subagentQuery struct {
	Status agents.Status `json:"status,omitempty"`
}

// operations returns all operations. Those of one path follow each other.
func operations() []operation {
	all := append(append(skillOperations(), runOperations()...), subagentOperations()...)
	all = append(append(all, approvalOperations()...), append(secretOperations(), profileOperations()...)...)
	return append(all,
		operation{
			method: "GET", path: "plugins", id: "listPlugins", does: "List the plugins", result: List[describe.Plugin]{},
			answer: `{"items":[]}`,
			serve:  func(x *exchange) (any, error) { return list(x.service.Plugins(x.request.Context())) },
		},
		operation{
			method: "GET", path: "doctor", id: "diagnose", does: "Diagnose the machine", who: persons, result: Diagnosis{},
			answer: `{"sections":[{"name":"sandbox","findings":[{"subject":"engine","level":"ok","detail":"Docker 28"}]}],"ok":true}`,
			serve:  func(x *exchange) (any, error) { return x.service.Doctor(x.request.Context()) },
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
				return take(x, &q, func() (*SkillPage, error) { return x.service.Skills(x.request.Context(), q) })
			},
		},
		{
			method: "GET", path: "skills/{name}", id: "getSkill", does: "Describe a skill in full", result: describe.Skill{},
			serve: func(x *exchange) (any, error) {
				return x.service.Skill(x.request.Context(), x.request.PathValue("name"))
			},
		},
		{
			method: "POST", path: "skills/{name}/execute", id: "executeSkill",
			does:  "Run a skill. The answer comes when it has ended; as text/event-stream, its output comes while it runs, and with Prefer: respond-async, only the run to poll. A client that leaves ends the run, unless it sent Prefer: respond-async",
			scope: identity.ScopeRun, body: Execution{}, result: Run{}, media: eventMedia, headers: []string{"Prefer"},
			ask: `{"params":{"name":"Ann"}}`, answer: `{"id":"r1","state":"ended","result":{"skill":"hello","run_id":"r1","exit_code":0,"stdout":"hello Ann\n","stderr":"","wall_time_ms":41,"truncated":false}}`,
			serve: execute,
		},
		{
			method: "PUT", path: "skills/{name}/enabled", id: "setEnabled", does: "Enable or disable a skill for everybody", who: persons, body: Enabled{}, result: Enabled{},
			ask: `{"enabled":false}`, answer: `{"enabled":false}`,
			serve: func(x *exchange) (any, error) {
				var to Enabled
				return take(x, &to, func() (Enabled, error) {
					return to, x.service.SetEnabled(x.request.Context(), x.request.PathValue("name"), to.Enabled)
				})
			},
		},
		{
			method: "PUT", path: "skills/{name}/pinned", id: "setPinned", does: "Keep the tool of a skill, however many there are, or no longer", who: persons, body: Pinned{}, result: Pinned{},
			ask: `{"pinned":true}`, answer: `{"pinned":true}`,
			serve: func(x *exchange) (any, error) {
				var to Pinned
				return take(x, &to, func() (Pinned, error) {
					return to, x.service.SetPinned(x.request.Context(), x.request.PathValue("name"), to.Pinned)
				})
			},
		},
	}
}

func runOperations() []operation {
	return []operation{
		{
			method: "GET", path: "runs", id: "listRuns", does: "List runs, the newest first: a person and skills:admin see all, another principal its own", query: RunQuery{}, result: RunPage{},
			answer: `{"items":[]}`,
			serve: func(x *exchange) (any, error) {
				var q RunQuery
				return take(x, &q, func() (*RunPage, error) { return x.service.Runs(x.request.Context(), q) })
			},
		},
		{
			method: "GET", path: "runs/{id}", id: "getRun", does: "Get a run. As text/event-stream, the output of one that this server holds comes while it runs, after the event of Last-Event-ID", result: Run{}, media: eventMedia, headers: []string{"Last-Event-ID"},
			answer: `{"id":"r1"}`,
			serve:  getRun,
		},
		{
			method: "DELETE", path: "runs/{id}", id: "cancelRun", does: "End a run", scope: identity.ScopeRun, status: http.StatusNoContent,
			serve: func(x *exchange) (any, error) {
				return nil, x.service.CancelRun(x.request.Context(), x.request.PathValue("id"))
			},
		},
		{
			method: "GET", path: "runs/{id}/outputs/{path...}", id: "getOutput", does: "Get an output of a run, while it is kept: stdout, stderr, or out/ and the path of a file", media: anyMedia,
			serve: getOutput,
		},
	}
}

func subagentOperations() []operation {
	const example = `{"run_id":"0123456789ab","child_agent_id":"team/reviewer","parent_session_key":"token/ann//1","parent_agent_id":"","task":"Review the last commit.","label":"review","status":"running","depth":1,"cleanup":"keep","created_at":"2026-01-31T15:04:00Z","timeout_seconds":300,"root":"token/ann//1","owner":"token/ann","budget":{"turns":50},"used":{"turns":3,"tokens":5120,"cost":0.02}`
	return []operation{
		{
			method: "GET", path: "subagents", id: "listSubagents", does: "List subagents, the newest first, without messages: a person and skills:admin see all, another principal its own", query: subagentQuery{}, result: List[*agents.Session]{},
			answer: `{"items":[` + example + `}]}`,
			serve: func(x *exchange) (any, error) {
				var q subagentQuery
				return take(x, &q, func() (any, error) { return list(SubagentsOf(x.service).List(x.request.Context(), q.Status)) })
			},
		},
		{
			method: "GET", path: "subagents/{id}", id: "getSubagent", does: "Get a subagent with its messages and the IDs of its children", result: agents.Session{},
			answer: example + `,"children":["ba9876543210"],"messages":[{"role":"user","text":"Review the last commit."}]}`,
			serve: func(x *exchange) (any, error) {
				return SubagentsOf(x.service).Find(x.request.Context(), x.request.PathValue("id"))
			},
		},
		{
			method: "DELETE", path: "subagents/{id}", id: "stopSubagent", does: "End a subagent and its descendants", scope: identity.ScopeRun, status: http.StatusNoContent,
			serve: func(x *exchange) (any, error) {
				return nil, SubagentsOf(x.service).Stop(x.request.Context(), x.request.PathValue("id"))
			},
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
				return take(x, &q, func() (any, error) { return list(x.service.Approvals(x.request.Context(), q.Ended)) })
			},
		},
		{
			method: "GET", path: "approvals/{id}", id: "getApproval", does: "Get a question, with its answers", result: approval.Record{},
			serve: func(x *exchange) (any, error) {
				return x.service.Approval(x.request.Context(), x.request.PathValue("id"))
			},
		},
		{
			method: "POST", path: "approvals/{id}", id: "answerApproval", does: "Answer a question. A script can answer once.", who: andScripts, body: Answer{}, result: approval.Record{}, headers: []string{tokenHeader},
			ask: `{"scope":"once"}`,
			serve: func(x *exchange) (any, error) {
				var a Answer
				return take(x, &a, func() (*approval.Record, error) {
					a.Token, a.Bearer = x.request.Header.Get(tokenHeader), x.request.Header.Get("Authorization") != ""
					return x.service.Answer(x.request.Context(), x.request.PathValue("id"), a)
				})
			},
		},
		{
			method: "DELETE", path: "approvals/{id}", id: "revokeApproval", does: "Withdraw an approval, or a question", who: answering, status: http.StatusNoContent,
			serve: func(x *exchange) (any, error) {
				return nil, x.service.Revoke(x.request.Context(), x.request.PathValue("id"))
			},
		},
	}
}

func secretOperations() []operation {
	return []operation{
		{
			method: "GET", path: "secrets", id: "listSecrets", does: "List the secrets without values, and the skills that have them", who: persons, result: List[manage.Secret]{},
			answer: `{"items":[{"name":"GITHUB_TOKEN","kind":"value","set":"2026-01-31T15:04:00Z","grants":[{"skill":"issues","terms":"masked: to api.github.com:443, GET, any path, in header and query, for what the skill has in the variable GITHUB_TOKEN","plain":false,"configured":false}]}]}`,
			serve:  func(x *exchange) (any, error) { return list(x.service.Secrets().List(x.request.Context())) },
		},
		{
			method: "DELETE", path: "secrets/{name}", id: "removeSecret", does: "Remove the value of a secret", who: persons, status: http.StatusNoContent,
			serve: func(x *exchange) (any, error) {
				return nil, x.service.Secrets().Remove(x.request.Context(), x.request.PathValue("name"))
			},
		},
		{
			method: "POST", path: "skills/{name}/secrets", id: "grantSecret", does: "Grant a skill a secret, while it has the digest. A grant for the same variable, file or header is replaced", who: persons, body: SecretTerms{}, status: http.StatusNoContent,
			ask: `{"name":"GITHUB_TOKEN","hosts":["api.github.com"],"methods":["GET"],"digest":"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`,
			serve: func(x *exchange) (any, error) {
				var terms SecretTerms
				return take(x, &terms, func() (any, error) {
					return nil, x.service.Secrets().Grant(x.request.Context(), x.request.PathValue("name"), terms)
				})
			},
		},
		{
			method: "DELETE", path: "skills/{name}/secrets/{secret}", id: "revokeSecret", does: "Take a secret away from a skill", who: persons, status: http.StatusNoContent,
			serve: func(x *exchange) (any, error) {
				return nil, x.service.Secrets().Revoke(x.request.Context(), x.request.PathValue("name"), x.request.PathValue("secret"))
			},
		},
	}
}

func profileOperations() []operation {
	const example = `{"name":"ci","configured":false,"allow":["team/*"],"class":"safe","execution_timeout":"1m0s"}`
	return []operation{
		{
			method: "GET", path: "profiles", id: "listProfiles", does: "List the profiles of clients", who: overseers, result: List[Profile]{},
			answer: `{"items":[` + example + `]}`,
			serve: func(x *exchange) (any, error) {
				return List[policy.NamedProfile]{Items: ProfilesOf(x.service).List(x.request.Context())}, nil
			},
		},
		{
			method: "POST", path: "profiles", id: "addProfile", does: "Make a profile", who: overseers, body: NewProfile{}, result: Profile{},
			ask: `{"name":"ci","allow":["team/*"],"class":"safe","execution_timeout":"1m"}`, answer: example,
			serve: func(x *exchange) (any, error) {
				var to NewProfile
				return take(x, &to, func() (policy.NamedProfile, error) {
					return ProfilesOf(x.service).Put(x.request.Context(), policy.NamedProfile{Name: to.Name, Profile: to.Profile}, true)
				})
			},
		},
		{
			method: "PUT", path: "profiles/{name}", id: "setProfile", does: "Replace a profile. One of the configuration is changed there", who: overseers, body: ProfileFields{}, result: Profile{},
			ask: `{"allow":["team/*"],"class":"safe"}`, answer: example,
			serve: func(x *exchange) (any, error) {
				var to ProfileFields
				return take(x, &to, func() (policy.NamedProfile, error) {
					return ProfilesOf(x.service).Put(x.request.Context(), policy.NamedProfile{Name: x.request.PathValue("name"), Profile: to.Profile}, false)
				})
			},
		},
		{
			method: "DELETE", path: "profiles/{name}", id: "removeProfile", does: "Remove a profile. No skill exists then for clients that have it", who: overseers, status: http.StatusNoContent,
			serve: func(x *exchange) (any, error) {
				return nil, ProfilesOf(x.service).Remove(x.request.Context(), x.request.PathValue("name"))
			},
		},
		{
			method: "GET", path: "profiles/{name}/skills", id: "tryProfile", does: "Say which skills exist for clients of a profile, and what their calls meet", who: overseers, result: List[manage.Trial]{},
			answer: `{"items":[{"skill":"hello","state":"ready"},{"skill":"deploy","state":"off: it is dangerous, and the profile ci allows at most safe"}]}`,
			serve: func(x *exchange) (any, error) {
				return list(TryProfile(x.request.Context(), x.service, x.request.PathValue("name")))
			},
		},
	}
}

// list returns items as a list.
func list[T any](items []T, err error) (List[T], error) {
	if items == nil {
		items = []T{}
	}
	return List[T]{items}, err
}
