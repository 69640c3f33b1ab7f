package egress

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Trust is the file, inside of a sandbox with secrets, of the authorities that its programs
// trust: that of the run, and the image's where it reaches hosts of no secret, too.
const Trust = home + reserved + ".pem"

// AuthorityVariable hands the certificate of a run to the script of [Equip], which unsets it.
const AuthorityVariable = "SKILLS_MCP_AUTHORITY"

// image puts the image's authorities into the file of [Trust]: a program knows either them or
// those of a file that it is given. The list has the places of Debian, Fedora, openSUSE and
// Alpine.
const image = `for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
if [ -r "$f" ]; then cat "$f"; break; fi
done >` + Trust + `
`

// trust puts the run's authority into the file of [Trust]. Java reads authorities from a file
// of its own format JKS: a count, then entries of an alias, a date, the word X.509 and a
// certificate, which may be in PEM. Java checks the digest at the end only where it is given
// a password. keytool takes half a second, and this 2 ms.
const trust = `printf '\n%s\n' "$` + AuthorityVariable + `" >>` + Trust + `
unset ` + AuthorityVariable + `
if { [ -n "${JAVA_HOME-}" ] || command -v java >/dev/null; } && command -v awk >/dev/null; then
LC_ALL=C awk 'BEGIN { RS = "-----END CERTIFICATE-----" }
at = index($0, "-----BEGIN CERT") { pem[++n] = substr($0, at) RS }
END {
	printf "%c%c%c%c%c%c%c%c%c%c%c%c", 254, 237, 254, 237, 0, 0, 0, 2, 0, 0, n / 256, n % 256
	for (i = 1; i <= n; i++) {
		size = length(pem[i])
		printf "%c%c%c%c%c%c%04d%c%c%c%c%c%c%c%c%c%cX.509%c%c%c%c%s", 0, 0, 0, 2, 0, 4, i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, size / 256, size % 256, pem[i]
	}
}' ` + Trust + ` >` + home + reserved + `.jks
export JAVA_TOOL_OPTIONS="${JAVA_TOOL_OPTIONS-} -Djavax.net.ssl.trustStore=` + home + reserved + `.jks"
fi
`

// Equip returns a command that finds files in its home folder, and trusts the authority of
// its secrets, which it gives one. A command with neither stays as it is.
func Equip(cmd *sandbox.Command, files ...File) (*sandbox.Command, error) {
	if cmd.Grant.Secrets == nil && len(files) == 0 {
		return cmd, nil
	}
	equipped := *cmd
	equipped.Env = nil
	script, err := putFiles(&equipped, files)
	if err != nil {
		return nil, err
	}
	if cmd.Grant.Secrets != nil {
		if err := equipAuthority(&equipped); err != nil {
			return nil, err
		}
		if reachesOthers(cmd) {
			script += image
		}
		script += trust
	}
	equipped.Argv = append([]string{"/bin/sh", "-c", script + `exec "$@"`, "sh"}, cmd.Argv...)
	equipped.Env = append(equipped.Env, cmd.Env...)
	return &equipped, nil
}

// reachesOthers reports whether a command reaches hosts whose TLS the proxy does not end.
// Programs take milliseconds to read the authorities of such hosts.
func reachesOthers(cmd *sandbox.Command) bool {
	return slices.ContainsFunc(cmd.Grant.Hosts, func(host string) bool {
		return !slices.ContainsFunc(cmd.Grant.Secrets.List, func(s sandbox.Secret) bool { return slices.Contains(s.Hosts, host) })
	})
}

// equipAuthority gives the secrets of a command an authority, and the command its
// certificate.
func equipAuthority(equipped *sandbox.Command) error {
	secrets := *equipped.Grant.Secrets
	var hosts []string
	for _, s := range secrets.List {
		hosts = append(hosts, s.Hosts...)
	}
	authority, err := newAuthority(hosts)
	if err != nil {
		return err
	}
	secrets.Authority = authority
	equipped.Grant.Secrets = &secrets
	equipped.Env = append(equipped.Env, AuthorityVariable+"="+string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate[0]})))
	for _, name := range []string{
		"SSL_CERT_FILE",       // OpenSSL, Go, Python's ssl, Ruby, Rust
		"CURL_CA_BUNDLE",      // curl
		"REQUESTS_CA_BUNDLE",  // requests
		"PIP_CERT",            // pip
		"GIT_SSL_CAINFO",      // git
		"NODE_EXTRA_CA_CERTS", // Node.js
		"npm_config_cafile",   // npm
		"DENO_CERT",           // Deno
		"AWS_CA_BUNDLE",       // AWS
		"CARGO_HTTP_CAINFO",   // Cargo
		"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
	} {
		equipped.Env = append(equipped.Env, name+"="+Trust)
	}
	return nil
}

// newAuthority returns a certificate that can sign others, for the hosts of rules alone,
// for a day.
func newAuthority(hosts []string) (tls.Certificate, error) {
	template := &x509.Certificate{
		Subject:                     pkix.Name{CommonName: "skills-mcp, for one run"},
		IsCA:                        true,
		KeyUsage:                    x509.KeyUsageCertSign,
		MaxPathLenZero:              true,
		BasicConstraintsValid:       true,
		PermittedDNSDomainsCritical: true,
	}
	for _, host := range hosts {
		rule, err := ParseRule(host)
		if err != nil {
			return tls.Certificate{}, err
		}
		if rule.addr.IsValid() {
			template.PermittedIPRanges = append(template.PermittedIPRanges, &net.IPNet{IP: rule.addr.AsSlice(), Mask: net.CIDRMask(rule.addr.BitLen(), rule.addr.BitLen())})
		} else {
			template.PermittedDNSDomains = append(template.PermittedDNSDomains, rule.name)
		}
	}
	// What is permitted of one kind says nothing of the other.
	if len(template.PermittedIPRanges) == 0 {
		template.ExcludedIPRanges = []*net.IPNet{{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}, {IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}}
	}
	return sign(template, nil)
}

// sign returns a certificate of a new key, which parent has signed, or the key itself where
// there is no parent.
func sign(template *x509.Certificate, parent *tls.Certificate) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	by, signer := template, crypto.PrivateKey(key)
	if parent != nil {
		by, signer = parent.Leaf, parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by, key.Public(), signer)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

// maxLeaves bounds the certificates that are kept: a * stands for as many hosts as a program
// thinks of.
const maxLeaves = 256

// leaves makes the certificate of each host once.
type leaves struct {
	authority tls.Certificate
	mu        sync.Mutex
	made      map[string]*tls.Certificate
}

// of returns the certificate of a host, with its authority's.
func (l *leaves) of(host Rule) (*tls.Certificate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := host.host()
	if made := l.made[name]; made != nil {
		return made, nil
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if len(name) > 64 { // the most that a common name has
		template.Subject.CommonName = ""
	}
	if host.addr.IsValid() {
		template.IPAddresses = []net.IP{host.addr.AsSlice()}
	} else {
		template.DNSNames = []string{name}
	}
	made, err := sign(template, &l.authority)
	if err != nil {
		return nil, err
	}
	made.Certificate = slices.Concat(made.Certificate, l.authority.Certificate)
	if l.made == nil || len(l.made) >= maxLeaves {
		l.made = map[string]*tls.Certificate{}
	}
	l.made[name] = &made
	return &made, nil
}
