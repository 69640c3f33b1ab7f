package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A Login signs people in at an issuer: OpenID Connect's authorization code with PKCE. It may
// be used concurrently.
type Login struct {
	issuer *Issuer // of ID tokens for the client
	client Client
}

// NewLogin returns the sign-in of the client of some options. It asks the issuer for nothing
// before the first person.
func NewLogin(o Options) *Login {
	o.Audience = []string{o.Client.id()}
	return &Login{issuer: NewIssuer(o), client: o.Client}
}

// Name returns the host of the issuer.
func (l *Login) Name() string {
	u, err := url.Parse(l.issuer.options.Issuer)
	if err != nil {
		return l.issuer.options.Issuer
	}
	return u.Host
}

// metadata returns the issuer's metadata, if it signs people in on this page.
func (l *Login) metadata(ctx context.Context) (*metadata, error) {
	m, err := l.issuer.keys.metadata(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the metadata of the issuer: %w", err)
	case m.Authorize == "" || m.Token == "":
		return nil, errors.New("the issuer signs nobody in: its metadata has no authorization_endpoint or token_endpoint")
	case l.client.ID == "" && !m.Documents:
		return nil, errors.New("the issuer does not know this page: register it, and write serve.oidc.page.client_id")
	}
	return m, nil
}

// config returns the client of the issuer.
func (l *Login) config(m *metadata) *oauth2.Config {
	c := &oauth2.Config{
		ClientID: l.client.id(), ClientSecret: l.client.Secret, RedirectURL: l.client.Redirect, Scopes: l.scopes(m),
		Endpoint: oauth2.Endpoint{AuthURL: m.Authorize, TokenURL: m.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
	if c.ClientSecret != "" && (len(m.SecretsBy) == 0 || slices.Contains(m.SecretsBy, "client_secret_basic")) {
		c.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	}
	return c
}

// scopes returns the scopes that are asked for: ours as far as the issuer lists them.
func (l *Login) scopes(m *metadata) []string {
	all := []string{oidc.ScopeOpenID}
	for _, scope := range m.Scopes {
		if scope == "profile" || scope == "email" || l.issuer.options.scope(scope) != "" {
			all = append(all, scope)
		}
	}
	return all
}

// nonceOf returns the nonce of an attempt's secret.
func nonceOf(secret string) string {
	sum := sha256.Sum256([]byte("nonce " + secret))
	return hex.EncodeToString(sum[:])
}

// Start returns the URL at which a person signs in. The state and the secret are random, of
// one attempt of one browser; the secret is its verifier of PKCE.
func (l *Login) Start(ctx context.Context, state, secret string) (string, error) {
	m, err := l.metadata(ctx)
	if err != nil {
		return "", err
	}
	return l.config(m).AuthCodeURL(state, oidc.Nonce(nonceOf(secret)), oauth2.S256ChallengeOption(secret)), nil
}

// Finish returns the person whom the issuer has sent back with a query, whose state the
// caller has checked. The error is an [*identity.Challenge] for one who may not use the
// server. The person may answer questions.
func (l *Login) Finish(ctx context.Context, query url.Values, secret string) (p identity.Principal, err error) {
	m, err := l.metadata(ctx)
	switch {
	case err != nil:
		return p, err
	case query.Get("iss") != m.Issuer && (m.NamesItself || query.Has("iss")): // RFC 9207: a code of another issuer goes nowhere
		return p, errors.New("the answer is of another issuer")
	case query.Has("error"):
		return p, fmt.Errorf("the issuer has not signed them in: %.100q", query.Get("error"))
	}
	client := context.WithValue(ctx, oauth2.HTTPClient, l.issuer.keys.client)
	answer, err := l.config(m).Exchange(client, query.Get("code"), oauth2.VerifierOption(secret))
	if err != nil {
		return p, fmt.Errorf("exchange the code: %w", err)
	}
	text, _ := answer.Extra("id_token").(string)
	token, claims, err := l.issuer.claims(ctx, text)
	if err != nil {
		return p, err
	}
	azp, _ := claims["azp"].(string)
	if token.Nonce != nonceOf(secret) || len(token.Audience) > 1 && azp != l.client.id() || azp != "" && azp != l.client.id() {
		return p, errors.New("the ID token is of another attempt or client")
	}
	if granted, _ := answer.Extra("scope").(string); claims["scope"] == nil && claims["scp"] == nil {
		claims["scope"] = granted
	}
	if p, err = l.issuer.principal(token, claims); err != nil {
		return p, err
	}
	if !p.May(identity.ScopeRead) {
		const none = "no scope of the server is for you"
		return p, &identity.Challenge{Status: http.StatusForbidden, Message: none, Reason: none + ": serve.oidc.default_scopes gives some to all"}
	}
	if !p.May(identity.ScopeApprove) {
		p.Scopes = append(p.Scopes, identity.ScopeApprove)
	}
	return p, nil
}

// Document returns the metadata of the client; nil if it has an ID of its own.
func (l *Login) Document() []byte {
	if l.client.ID != "" || !strings.HasPrefix(l.client.Document, "https://") {
		return nil
	}
	text, _ := json.Marshal(map[string]any{ // of texts
		"client_id": l.client.Document, "client_name": "skills-mcp", "redirect_uris": []string{l.client.Redirect},
		"grant_types": []string{"authorization_code"}, "response_types": []string{"code"}, "token_endpoint_auth_method": "none",
	})
	return text
}
