package httpd

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// A Certificate is a pair of PEM files that a handshake reads again when one has changed, so
// that a renewal needs no restart. It may be used concurrently.
type Certificate struct {
	check func(key string, info fs.FileInfo) error
	log   *slog.Logger

	mu        sync.Mutex // guards the fields below
	cert, key string     // files
	seen      [2]stamp   // of the files that were read last, also in vain
	pair      *tls.Certificate
}

// A stamp tells one version of a file from the next.
type stamp struct {
	changed time.Time
	size    int64
}

// NewCertificate reads a certificate with its chain, and its key. check refuses a key file
// that others can read.
func NewCertificate(cert, key string, check func(key string, info fs.FileInfo) error, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{check: check, log: log}
	return c, c.Use(cert, key)
}

// Use reads another pair of files. If that fails, the former one stays.
func (c *Certificate) Use(cert, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, pair, err := c.read(cert, key)
	if err == nil {
		c.cert, c.key, c.seen, c.pair = cert, key, seen, pair
	}
	return err
}

// Leaf returns the server's own certificate, as it was read.
func (c *Certificate) Leaf() *x509.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pair.Leaf
}

// Config returns the configuration of a TLS server with the certificate; nil has none.
func (c *Certificate) Config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil }}
}

// current returns the pair of the files as they are now. One that is not whole yet, as
// between the writing of two files, leaves the former in use.
func (c *Certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stamps(c.cert, c.key) == c.seen {
		return c.pair
	}
	seen, pair, err := c.read(c.cert, c.key)
	c.seen = seen
	if err != nil {
		c.log.Error("the certificate has changed and cannot be used: the former one stays", "err", err)
		return c.pair
	}
	c.pair = pair
	c.log.Info("the certificate has changed", "file", c.cert, "until", pair.Leaf.NotAfter)
	return pair
}

func (*Certificate) stamps(files ...string) (seen [2]stamp) {
	for i, file := range files {
		if info, err := os.Stat(file); err == nil {
			seen[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return seen
}

// read returns the pair of two files, which have seen before they are read: a later change
// then counts at the next handshake.
func (c *Certificate) read(cert, key string) (seen [2]stamp, _ *tls.Certificate, err error) {
	seen = c.stamps(cert, key)
	info, err := os.Stat(key)
	if err == nil {
		err = c.check(key, info)
	}
	if err != nil {
		return seen, nil, fmt.Errorf("read the key of the certificate: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return seen, nil, fmt.Errorf("read the certificate %s with the key %s: %w", cert, key, err)
	}
	return seen, &pair, nil
}
