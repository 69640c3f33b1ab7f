package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// An issuer is an OpenID provider without people: it publishes its keys, and signs the
// tokens that it is asked for. It may be used concurrently.
type issuer struct {
	url    string
	server *http.Server

	mu   sync.Mutex
	keys []*rsa.PrivateKey // the newest signs; a client may have a token of the one before
}

// audience is that of the issuer's tokens.
const audience = "bench"

func newIssuer() (*issuer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	i := &issuer{url: "http://" + l.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", i.metadata)
	mux.HandleFunc("/keys", i.published)
	i.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = i.server.Serve(l) }() // until close
	return i, i.rotate()
}

func (i *issuer) close() error { return i.server.Close() }

// rotate makes a new key. The one before stays published.
func (i *issuer) rotate() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, key)
	i.keys = i.keys[max(len(i.keys)-2, 0):]
	return nil
}

func (i *issuer) metadata(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]any{
		"issuer": i.url, "jwks_uri": i.url + "/keys", "authorization_endpoint": i.url + "/auth", "token_endpoint": i.url + "/token",
		"id_token_signing_alg_values_supported": []string{"RS256"}, "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
	})
}

func (i *issuer) published(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var keys []map[string]string
	for _, key := range i.keys {
		keys = append(keys, map[string]string{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": keyID(key),
			"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		})
	}
	writeJSON(w, map[string]any{"keys": keys})
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

func keyID(key *rsa.PrivateKey) string {
	sum := sha256.Sum256(key.N.Bytes())
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// token returns an access token of a subject in a group, for an hour.
func (i *issuer) token(subject, group string) (string, error) {
	i.mu.Lock()
	key := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	header, err1 := json.Marshal(map[string]string{"alg": "RS256", "typ": "at+jwt", "kid": keyID(key)})
	claims, err2 := json.Marshal(map[string]any{
		"iss": i.url, "sub": subject, "aud": audience, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
		"scope": "skills:run", "groups": []string{group}, "preferred_username": subject,
	})
	if err1 != nil || err2 != nil {
		return "", fmt.Errorf("encode a token: %w, %w", err1, err2)
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}
