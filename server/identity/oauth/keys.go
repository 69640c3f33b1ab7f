package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	refetchTime = 10 * time.Second // between two fetches, whatever tokens come
	keysAge     = 10 * time.Minute // after which the keys are fetched anew
	fetchTime   = 5 * time.Second
	maxDocument = 512 << 10 // bytes
	maxKeys     = 200
	wellKnown   = "/.well-known/"
	oauthDoc    = "oauth-authorization-server"
	openidDoc   = "openid-configuration"
)

// keys are the public keys of an issuer. They are fetched when a token is not of a known
// key, at most once in refetchTime: guesses cost the issuer nothing. While it is away, the
// keys that are known go on counting.
type keys struct {
	options    Options
	algorithms []jose.SignatureAlgorithm
	client     *http.Client
	fetching   chan struct{} // holds a value during a fetch

	mu      sync.Mutex // guards the fields below
	known   []jose.JSONWebKey
	found   *metadata // of the issuer; nil before the first fetch that succeeded
	fetched time.Time // known and found
	tried   time.Time
	failed  error // the last try
}

func newKeys(o Options) *keys {
	k := &keys{options: o, fetching: make(chan struct{}, 1), client: &http.Client{
		Transport: cmp.Or[http.RoundTripper](o.Transport, http.DefaultTransport), Timeout: fetchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects") },
	}}
	for _, algorithm := range o.Algorithms {
		k.algorithms = append(k.algorithms, jose.SignatureAlgorithm(algorithm))
	}
	return k
}

// awayKey is the key of a context's *error, which VerifySignature sets to the reason why the
// issuer is away: the verifier does not wrap its errors.
type awayKey struct{}

// VerifySignature implements [oidc.KeySet].
func (k *keys) VerifySignature(ctx context.Context, text string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(text, k.algorithms)
	if err != nil {
		return nil, err
	}
	known, fresh := k.get()
	payload, ok := verifyWith(known, jws)
	if ok && fresh {
		return payload, nil
	}
	err = k.fetch(ctx, !ok || !k.away())
	known, _ = k.get() // without the keys that were withdrawn meanwhile
	if payload, ok = verifyWith(known, jws); ok && ctx.Err() == nil {
		return payload, nil
	}
	if away, has := ctx.Value(awayKey{}).(*error); has {
		*away = err
	}
	return nil, errors.New("no key of the issuer has signed it")
}

// verifyWith returns the payload that one of some keys has signed.
func verifyWith(known []jose.JSONWebKey, jws *jose.JSONWebSignature) (payload []byte, ok bool) {
	header := jws.Signatures[0].Header
	for i := range known {
		key := &known[i]
		if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		if payload, err := jws.Verify(key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

func (k *keys) get() (known []jose.JSONWebKey, fresh bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known, time.Since(k.fetched) < keysAge
}

// away reports whether the last fetch failed.
func (k *keys) away() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed != nil
}

// fetch fetches the keys if that was not tried just now, and returns why the last try
// failed. With wait it waits for a fetch of another request.
func (k *keys) fetch(ctx context.Context, wait bool) error {
	if !wait {
		select {
		case k.fetching <- struct{}{}:
		default:
			return nil
		}
	} else {
		select {
		case k.fetching <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-k.fetching }()
	k.mu.Lock()
	tried, failed := k.tried, k.failed
	k.mu.Unlock()
	if time.Since(tried) < refetchTime {
		return failed
	}
	all, found, err := k.download(context.WithoutCancel(ctx)) // others wait for it, too
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tried, k.failed = time.Now(), err; err == nil {
		k.known, k.found, k.fetched = all, found, k.tried
	}
	return err
}

// metadata returns the metadata of the issuer, the last that was read while it is away.
func (k *keys) metadata(ctx context.Context) (found *metadata, err error) {
	if _, fresh := k.get(); !fresh {
		err = k.fetch(ctx, true)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.found == nil {
		return nil, err
	}
	return k.found, nil
}

// download returns the signing keys and the metadata of the issuer.
func (k *keys) download(ctx context.Context) (all []jose.JSONWebKey, found *metadata, err error) {
	if found, err = k.discover(ctx); err != nil {
		return nil, nil, err
	}
	var set jose.JSONWebKeySet
	if err := k.document(ctx, found.JWKSURI, &set); err != nil {
		return nil, nil, err
	}
	for _, key := range set.Keys {
		if key.IsPublic() && key.Valid() && key.Use != "enc" && len(all) < maxKeys {
			all = append(all, key)
		}
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%s has no key for signatures", found.JWKSURI)
	}
	return all, found, nil
}

// metadata are the parts of an issuer's metadata that are used.
type metadata struct {
	Issuer      string   `json:"issuer"`
	JWKSURI     string   `json:"jwks_uri"`
	Authorize   string   `json:"authorization_endpoint"`
	Token       string   `json:"token_endpoint"`
	Scopes      []string `json:"scopes_supported"`
	SecretsBy   []string `json:"token_endpoint_auth_methods_supported"`
	NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
	Documents   bool     `json:"client_id_metadata_document_supported"`
}

// discover returns the metadata of the issuer: as RFC 8414 has it, and then as OpenID
// Connect. A document of another issuer does not count: on a shared host, somebody else may
// have written it.
func (k *keys) discover(ctx context.Context) (*metadata, error) {
	issuer, err := url.Parse(k.options.Issuer)
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(issuer.Path, "/")
	host := issuer.Scheme + "://" + issuer.Host
	var errs []error
	for _, from := range []string{host + wellKnown + oauthDoc + path, host + wellKnown + openidDoc + path, host + path + wellKnown + openidDoc} {
		var found metadata
		err := k.document(ctx, from, &found)
		if err == nil && found.Issuer != k.options.Issuer {
			err = fmt.Errorf("%s is of the issuer %q", from, found.Issuer)
		}
		for _, address := range []string{found.JWKSURI, cmp.Or(found.Authorize, found.JWKSURI), cmp.Or(found.Token, found.JWKSURI)} {
			if err == nil && !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, host+"/") {
				err = fmt.Errorf("%s has the address %q, which is not https", from, address)
			}
		}
		if err == nil {
			return &found, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// document reads a JSON document.
func (k *keys) document(ctx context.Context, from string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := k.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", from, err)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", from, answer.Status)
	case len(body) > maxDocument:
		return fmt.Errorf("%s has more than %d bytes", from, maxDocument)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}
