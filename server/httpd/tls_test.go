package httpd

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// writePair writes a certificate for 127.0.0.1 with a serial number, and its key.
func writePair(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write(t, cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), serial)
	write(t, key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), serial)
}

// write writes a file with a time of its own, as the clock of a file system may stand still.
func write(t *testing.T, name string, data []byte, version int64) {
	t.Helper()
	at := time.Unix(1_000_000+version, 0)
	if err := errors.Join(os.WriteFile(name, data, 0o600), os.Chtimes(name, at, at)); err != nil {
		t.Fatal(err)
	}
}

func anyMode(string, fs.FileInfo) error { return nil }

// A renewed certificate counts at the next handshake; half of one, a wrong one, and one whose
// key others read leave the former in use, with one line in the log.
func TestCertificateChanges(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, 1)
	var log bytes.Buffer
	refuse := false
	check := func(string, fs.FileInfo) error {
		if refuse {
			return errors.New("others read it")
		}
		return nil
	}
	c, err := NewCertificate(cert, key, check, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	shown := func() int64 {
		pair, err := c.Config().GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.SerialNumber.Int64()
	}
	writePair(t, cert, key, 2)
	if got := shown(); got != 2 {
		t.Errorf("certificate %d", got)
	}
	for i, damage := range []func(version int64){
		func(v int64) { write(t, cert, []byte("half"), v) },
		func(int64) { _ = os.Remove(key) },
		func(v int64) { writePair(t, cert, key, v); write(t, key, []byte("another"), v+1000) },
		func(v int64) { writePair(t, cert, key, v); refuse = true },
	} {
		log.Reset()
		damage(int64(10 + i))
		for range 3 {
			if got := shown(); got != 2 {
				t.Errorf("damage %d: certificate %d", i, got)
			}
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "the former one stays") {
			t.Errorf("damage %d: %s", i, &log)
		}
	}
	refuse = false
	writePair(t, cert, key, 3)
	if got := shown(); got != 3 {
		t.Errorf("certificate %d", got)
	}
	if err := c.Use(cert, filepath.Join(dir, "none")); err == nil || shown() != 3 {
		t.Errorf("%v, certificate %d", err, shown())
	}
	if _, err := NewCertificate(cert, filepath.Join(dir, "none"), check, slog.Default()); err == nil {
		t.Error("began without a key")
	}
}

// HTTPS is served over HTTP/1.1 and HTTP/2, from TLS 1.2 on. An answer that takes longer than
// the patience, and sets its deadlines itself as streams of MCP do, is whole over both.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, 1)
	c, err := NewCertificate(cert, key, anyMode, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := New(&Options{TLS: c.Config()})
		patience := s.options.Patience
		s.Handle("/stream", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			err := errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{}))
			_, _ = io.WriteString(w, r.Proto+" "+r.URL.Scheme)
			err = errors.Join(err, control.Flush())
			time.Sleep(patience * 3 / 2)
			if err = errors.Join(err, r.Context().Err()); err != nil {
				_, _ = io.WriteString(w, err.Error())
			}
		}))
		dial, stop := servePipes(t, s)
		pool := x509.NewCertPool()
		pool.AddCert(c.current().Leaf)
		var all sync.WaitGroup
		for want, config := range map[string]*http.Transport{
			"HTTP/1.1 https": {TLSClientConfig: &tls.Config{RootCAs: pool}},
			"HTTP/2.0 https": {TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true},
		} {
			config.DialContext = func(context.Context, string, string) (net.Conn, error) { return dial() }
			all.Go(func() {
				defer config.CloseIdleConnections()
				response, err := (&http.Client{Transport: config}).Get("https://127.0.0.1/stream")
				if err != nil {
					t.Error(err)
					return
				}
				defer response.Body.Close()
				if got, err := io.ReadAll(response.Body); err != nil || string(got) != want {
					t.Errorf("%q, %v; want %q", got, err, want)
				}
			})
		}
		all.Wait()
		old, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		defer old.Close()
		if tls.Client(old, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MaxVersion: tls.VersionTLS11}).Handshake() == nil {
			t.Error("TLS 1.1 is let in")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A server that drains fails its readiness alone, still answers, and asks for no more requests
// on the connection.
func TestDrain(t *testing.T) {
	s := New(nil)
	s.Handle("/who", who)
	s.Drain()
	for path, want := range map[string]int{HealthPath: 200, ReadyPath: 503, "/who": 200} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
		if w.Code != want || path == "/who" && w.Header().Get("Connection") != "close" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
}
