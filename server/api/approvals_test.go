package api_test

import (
	"context"
	"crypto/ed25519"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// call calls the skill "change" as an MCP client does.
func (s *stage) call(t *testing.T) (*run.Outcome, *run.Error) {
	t.Helper()
	skill, err := s.catalog.Lookup("change")
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.executor.Run(t.Context(), run.Request{Skill: skill, Call: run.Call{Way: run.WayTool, Principal: identity.Principal{Kind: identity.Model, Session: "1"}}})
	if err == nil {
		return o, nil
	}
	return o, run.AsError(err)
}

// pending returns the ID of the question about a call that an MCP client has made.
func (s *stage) pending(t *testing.T) string {
	t.Helper()
	_, err := s.call(t)
	if err == nil || err.Code != run.ApprovalRequired || err.Approval == "" {
		t.Fatalf("error %v", err)
	}
	return err.Approval
}

// The yes of a person on the page lets the same call of the MCP client run once, and the
// run shows that just the approved files have run.
func TestAnswer(t *testing.T) {
	s := newStage(t, "", nil)
	id := s.pending(t)
	for name, ctx := range map[string]context.Context{"token": as(t, identity.Token, "a"), "subject": as(t, identity.Subject, "a"), "somebody": t.Context()} {
		_, err := s.Approval(ctx, id)
		wantCode(t, name+" reads", err, run.NotFound)
		if _, none := s.Approval(ctx, "none"); strings.ReplaceAll(err.Error(), id, "none") != none.Error() {
			t.Errorf("%s learns that there is a question: %v; %v", name, err, none)
		}
		if all, err := s.Approvals(ctx, true); err != nil || len(all) > 0 {
			t.Errorf("%s lists %v, %v", name, all, err)
		}
	}
	model := as(t, identity.Model, "")
	for _, scope := range []approval.Scope{approval.Once, approval.Always, approval.No} {
		_, err := s.Answer(model, id, api.Answer{Scope: scope})
		wantCode(t, "the model answers", err, run.PermissionDenied)
	}
	wantCode(t, "the model revokes", s.Revoke(model, id), run.PermissionDenied)
	if r, err := s.Approval(model, id); err != nil || r.State != approval.Pending {
		t.Errorf("%+v, %v", r, err)
	}
	if all, err := s.Approvals(person(t), false); err != nil || len(all) != 1 || all[0].ID != id || all[0].Question.Caller != "a model" {
		t.Errorf("%+v, %v", all, err)
	}
	for _, wrong := range []api.Answer{{}, {Scope: approval.Session}, {Scope: "yes"}, {Scope: approval.Once, As: "bea"}} {
		_, err := s.Answer(person(t), id, wrong)
		wantCode(t, string(wrong.Scope), err, run.InvalidParam)
	}
	if r, err := s.Answer(person(t), id, api.Answer{Scope: approval.Once}); err != nil || r.State != approval.Given {
		t.Fatalf("%+v, %v", r, err)
	}
	o, failed := s.call(t)
	if failed != nil {
		t.Fatal(failed)
	}
	if again := s.pending(t); again == id {
		t.Error("the approval is used twice")
	}
	r, err := s.Run(person(t), o.RunID)
	if err != nil || r.Proof == nil || !r.Proof.Same || r.Proof.Approval != id || r.Proof.Approved == "" || r.Proof.Ran != o.Digest || len(r.Proof.Signatures) != 1 || r.Live != nil {
		t.Errorf("%+v, %v", r, err)
	}
	page, err := s.Runs(person(t), api.RunQuery{Approval: id})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != o.RunID {
		t.Errorf("%+v, %v", page, err)
	}
	_, err = s.Answer(person(t), id, api.Answer{Scope: approval.Once})
	wantCode(t, "answered already", err, run.InvalidParam)
	_, err = s.Answer(person(t), "nothing", api.Answer{Scope: approval.Once})
	wantCode(t, "no approval", err, run.NotFound)
}

// A run that had other files than the approved ones shows so, as does one whose approval is
// gone.
func TestProofDiffers(t *testing.T) {
	s := newStage(t, "", nil)
	id := s.pending(t)
	for _, approved := range []string{id, "gone"} {
		row := &store.Run{ID: "run-" + approved, Ended: time.Now(), Outcome: audit.OK, Digest: "sha256:other", Approval: approved}
		if _, err := s.runs.Add(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(person(t), row.ID)
		if err != nil || r.Proof == nil || r.Proof.Same || r.Proof.Ran != row.Digest || (r.Proof.Approved == "") != (approved == "gone") {
			t.Errorf("%s: %+v, %v", approved, r.Proof, err)
		}
	}
}

// No is final for the call, and a revoked approval lets nothing run.
func TestDenyRevoke(t *testing.T) {
	s := newStage(t, "", nil)
	id := s.pending(t)
	if r, err := s.Answer(person(t), id, api.Answer{Scope: approval.No}); err != nil || r.State != approval.Denied {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := s.call(t); err == nil || err.Approval != "" || err.Retryable {
		t.Errorf("error %v", err)
	}
	s = newStage(t, "", nil)
	id = s.pending(t)
	if _, err := s.Answer(person(t), id, api.Answer{Scope: approval.Always}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.call(t); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "by its skill", s.Revoke(person(t), "change"), run.NotFound)
	if err := s.Revoke(person(t), id); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "twice", s.Revoke(person(t), id), run.InvalidParam)
	if other := s.pending(t); other == id {
		t.Error("the revoked approval waits again")
	}
}

// hash returns the hash of a passphrase, with the fewest rounds that are accepted.
func hash(t *testing.T, text string) string {
	t.Helper()
	const rounds, salt = 100_000, "a salt of mine"
	key, err := pbkdf2.Key(sha256.New, text, []byte(salt), rounds, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("ed25519-pbkdf2-sha256$%d$%s$%s", rounds, encode([]byte(salt)), encode(ed25519.NewKeyFromSeed(key).Public().(ed25519.PublicKey)))
}

// A second person proves themselves by their passphrase; the first one cannot sign twice.
func TestSecondPerson(t *testing.T) {
	s := newStage(t, policy.DualSign, func(o *api.Options) {
		o.Passphrases.Approvers = map[string]string{"bea": hash(t, "correct horse")}
	})
	id := s.pending(t)
	if r, err := s.Answer(person(t), id, api.Answer{Scope: approval.Once}); err != nil || r.State != approval.Pending {
		t.Fatalf("%+v, %v", r, err)
	}
	_, err := s.Answer(person(t), id, api.Answer{Scope: approval.Once})
	wantCode(t, "the same person", err, run.InvalidParam)
	_, err = s.Answer(person(t), id, api.Answer{Scope: approval.Once, As: "bea", Passphrase: "wrong"})
	wantCode(t, "a wrong passphrase", err, run.PermissionDenied)
	_, err = s.Answer(as(t, identity.Token, "a"), id, api.Answer{Scope: approval.Once, As: "bea", Passphrase: "correct horse"})
	wantCode(t, "without a person", err, run.PermissionDenied)
	if r, err := s.Answer(person(t), id, api.Answer{Scope: approval.Once, As: "bea", Passphrase: "correct horse"}); err != nil || r.State != approval.Given {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := s.call(t); err != nil {
		t.Error(err)
	}
}

// A script answers once, with its token, whoever it is.
func TestScript(t *testing.T) {
	s := newStage(t, "", func(o *api.Options) { o.Passphrases.Script = hash(t, "token of mine") })
	id, ctx := s.pending(t), as(t, identity.Token, "a")
	for name, test := range map[string]struct {
		a    api.Answer
		code run.Code
	}{
		"always":        {api.Answer{Scope: approval.Always, Token: "token of mine"}, run.InvalidParam},
		"as another":    {api.Answer{Scope: approval.Once, As: "bea", Token: "token of mine"}, run.InvalidParam},
		"another token": {api.Answer{Scope: approval.Once, Token: "token of yours"}, run.PermissionDenied},
	} {
		_, err := s.Answer(ctx, id, test.a)
		wantCode(t, name, err, test.code)
	}
	if r, err := s.Answer(ctx, id, api.Answer{Scope: approval.Once, Token: "token of mine"}); err != nil || r.State != approval.Given {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := s.call(t); err != nil {
		t.Error(err)
	}
	_, err := newStage(t, "", nil).Answer(ctx, id, api.Answer{Scope: approval.Once, Token: "x"})
	wantCode(t, "no token is set up", err, run.PermissionDenied)
}

// Who guesses has one try a second.
func TestGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "", func(o *api.Options) { o.Passphrases.Script = hash(t, "token of mine") })
		began := time.Now()
		for range 3 {
			_, err := s.Answer(t.Context(), "x", api.Answer{Scope: approval.Once, Token: "guess"})
			wantCode(t, "guess", err, run.PermissionDenied)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Answer(ctx, "x", api.Answer{Scope: approval.Once, Token: "guess"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("three guesses took %s", took)
		}
		time.Sleep(time.Second)
	})
}

// A trusting person's workspaces.
type trusted []string

func (w *trusted) Trust(_ context.Context, t *run.Trust) error {
	*w = append(*w, t.Workspace)
	return nil
}

// A question about trust in a workspace is answered with the settings of that workspace.
func TestTrust(t *testing.T) {
	var s *stage
	var workspaces trusted
	s = newStage(t, "", func(o *api.Options) {
		o.Trusting = func(_ context.Context, trust *run.Trust) (*approval.Approvals, error) {
			if trust.Workspace != "/elsewhere" {
				t.Errorf("asked for %+v", trust)
			}
			return approval.New(s.data, &approval.Options{Workspaces: &workspaces, Key: s.key}), nil
		}
	})
	s.trust = &run.Trust{Workspace: "/elsewhere"}
	id := s.pending(t)
	if _, err := s.Answer(person(t), id, api.Answer{Scope: approval.Once}); err != nil || len(workspaces) != 1 || workspaces[0] != "/elsewhere" {
		t.Errorf("trusted %v, %v", workspaces, err)
	}
}
