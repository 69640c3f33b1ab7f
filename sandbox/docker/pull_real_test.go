package docker

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

// imageRegistry serves one image, "demo:1", with a layer of the given size, as
// registries do. Source: the OCI distribution specification.
func imageRegistry(t *testing.T, size int) (address string) {
	t.Helper()
	var plain, packed bytes.Buffer
	archive := tar.NewWriter(&plain)
	content := make([]byte, size)
	for i := range content { // does not compress
		content[i] = byte(i*i>>3 ^ i>>8)
	}
	if err := archive.WriteHeader(&tar.Header{Name: "content", Mode: 0o644, Size: int64(size)}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, bytes.NewReader(plain.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	blobs := map[string][]byte{}
	add := func(data []byte) map[string]any {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
		blobs[digest] = data
		return map[string]any{"digest": digest, "size": len(data)}
	}
	encode := func(value any) []byte {
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	const mediaType = "application/vnd.docker.distribution.manifest.v2+json"
	config := add(encode(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "created": time.Unix(0, 0).UTC(), "config": map[string]any{},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain.Bytes()))}},
	}))
	config["mediaType"] = "application/vnd.docker.container.image.v1+json"
	layer := add(packed.Bytes())
	layer["mediaType"] = "application/vnd.docker.image.rootfs.diff.tar.gzip"
	manifest := encode(map[string]any{"schemaVersion": 2, "mediaType": mediaType, "config": config, "layers": []any{layer}})

	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v2/demo/manifests/{ref}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Docker-Content-Digest", fmt.Sprintf("sha256:%x", sha256.Sum256(manifest)))
		w.Header().Set("Content-Length", fmt.Sprint(len(manifest)))
		_, _ = w.Write(manifest)
	})
	mux.HandleFunc("GET /v2/demo/blobs/{digest}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(blobs[r.PathValue("digest")]))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// A pull from a registry, as far as an engine tells of it.
func TestPullReal(t *testing.T) {
	const size = 8 << 20
	options := realEngine(t)
	ref := imageRegistry(t, size) + "/demo:1"
	options.Images = map[string]string{"default": ref}
	d := New(options)
	defer d.Close()
	var lines []string
	err := d.Pull(t.Context(), "default", func(message string) { lines = append(lines, message) })
	if err != nil && strings.Contains(err.Error(), "connection refused") {
		noNetwork(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	removeImage(t, ref)
	if lines[0] != "pulling "+ref || len(lines) < 2 {
		t.Errorf("lines %q", lines)
	}
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := e.api.ImageInspect(t.Context(), ref)
	if err != nil || found.Size < size || len(found.RepoDigests) == 0 || !strings.Contains(found.RepoDigests[0], "/demo@sha256:") {
		t.Errorf("image %+v, %v", found, err)
	}
}
