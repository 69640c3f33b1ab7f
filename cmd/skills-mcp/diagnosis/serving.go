package diagnosis

import (
	"context"
	"io/fs"
	"net/url"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/httpd"
	"github.com/skillsmcp/skills-mcp/server/identity/oauth"
)

// certificateAge is how long a certificate has to last, so that nobody is surprised.
const certificateAge = 14 * 24 * time.Hour

// checkServing checks the settings of a server over HTTP. A server on standard input and
// output has no findings.
func checkServing(ctx context.Context, settings *setup.Settings) (findings []sandbox.Finding) {
	s := settings.Serve
	if s.Transport == "stdio" && s.URL == "" && s.TLS.Cert == "" && s.OIDC.Issuer == "" {
		return nil
	}
	reader := endpoint.NewTokenReader(settings)
	findings = append(findings, sandbox.OK("address", "%s", s.Listen))
	switch {
	case s.URL != "":
		findings = append(findings, sandbox.OK("url", "%s", s.URL))
	case s.UI && !endpoint.IsLoopback(s.Listen):
		findings = append(findings, sandbox.Warning("url", "none, so sign-in links name "+s.Listen, "set serve.url to the address by which others reach the server"))
	}
	if s.TLS.Cert != "" {
		findings = append(findings, checkCertificate(s.TLS.Cert, s.TLS.Key, s.URL, reader.CheckKey))
	}
	if s.TokenFile != "" {
		if _, err := reader.Token(s, false); err != nil {
			findings = append(findings, sandbox.FailedBy("token file", err))
		} else {
			findings = append(findings, sandbox.OK("token file", "%s", s.TokenFile))
		}
	}
	if all, err := settings.Tokens.List(ctx); err == nil && len(all) > 0 {
		expired := 0
		for _, t := range all {
			if t.Expired() {
				expired++
			}
		}
		findings = append(findings, sandbox.OK("tokens", "%s, %d expired", plain.Count(len(all), "named token"), expired))
	}
	if s.OIDC.Issuer == "" {
		return findings
	}
	if err := oauth.NewIssuer(s.OAuth()).Reach(ctx); err != nil {
		return append(findings, sandbox.Warning("issuer", plain.Flat(s.OIDC.Issuer+": "+err.Error()), "see that this machine reaches it, and that serve.oidc.issuer is as in its metadata"))
	}
	return append(findings, sandbox.OK("issuer", "%s has keys", s.OIDC.Issuer))
}

// checkCertificate checks that a certificate can be served at a URL, and for how long.
func checkCertificate(cert, key, address string, check func(string, fs.FileInfo) error) sandbox.Finding {
	const subject = "certificate"
	c, err := httpd.NewCertificate(cert, key, check, nil)
	if err != nil {
		return sandbox.FailedBy(subject, err)
	}
	leaf := c.Leaf()
	until := plain.Day(leaf.NotAfter)
	if time.Until(leaf.NotAfter) < certificateAge {
		return sandbox.Warning(subject, cert+" is valid until "+until, "renew it; a running server takes the new files")
	}
	if u, err := url.Parse(address); err == nil && u.Scheme == "https" && leaf.VerifyHostname(u.Hostname()) != nil {
		return sandbox.Warning(subject, cert+" is not for "+u.Hostname()+", the host of serve.url", "get one with this name, or correct serve.url, if no proxy has the certificate")
	}
	return sandbox.OK(subject, "%s, until %s", cert, until)
}
