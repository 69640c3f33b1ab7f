package oci

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// unpacked applies layers as an image's and returns the files in the quarantine, "outside"
// if one is elsewhere.
func unpacked(t testing.TB, layers ...[]byte) (map[string]string, error) {
	t.Helper()
	parent := t.TempDir()
	into, err := quarantine.New(filepath.Join(parent, "q"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	m, files := &manifest{}, layerFiles(t, parent, layers...)
	defer closeAll(files)
	for _, f := range files {
		m.Layers = append(m.Layers, f.layer)
	}
	p := &pull{into: into, request: source.Request{All: true}}
	if _, err := p.unpackImage(t.Context(), m, files, "."); err != nil {
		return nil, err
	}
	if err := into.Seal(); err != nil {
		return nil, err
	}
	if left, _ := os.ReadDir(parent); len(left) != 1 {
		t.Errorf("there are %v beside the quarantine", left)
	}
	return listing(t, into.Path()), nil
}

// layerFiles returns layers as they are after their download to a folder.
func layerFiles(t testing.TB, folder string, layers ...[]byte) []*layerFile {
	t.Helper()
	var files []*layerFile
	for _, data := range layers {
		d := v1.Descriptor{MediaType: v1.MediaTypeImageLayerGzip, Digest: digest.FromBytes(data), Size: int64(len(data))}
		f, err := newLayerFile(folder, d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// TestHostileImages tries hostile images, with the outcome: what is in the
// quarantine, or why it is refused.
func TestHostileImages(t *testing.T) {
	t.Parallel()
	type layer = []tar.Header
	skill := file("s/SKILL.md", "x")
	many := layer{skill}
	for i := range 300 {
		many = append(many, file(fmt.Sprintf("s/%d/", i)+strings.Repeat("d/", 1500)+"f", "x"))
	}
	var deep string
	for range 40 {
		deep += "d/"
	}
	for _, test := range []struct {
		name    string
		layers  []layer
		files   map[string]string
		refused string
	}{
		{name: "a path that leads up", layers: []layer{{skill, file("s/../../etc/cron.d/x", "x")}}, refused: "leads out of it"},
		{name: "an absolute path is one of the image", layers: []layer{{skill, file("/s/a", "a")}}, files: map[string]string{"s/SKILL.md": "x", "s/a": "a"}},
		{name: "a link to a file of the host", layers: []layer{{skill, symlink("s/a", "/etc/passwd")}}, refused: "absolute path"},
		{name: "a link out of the image", layers: []layer{{skill, symlink("s/a", "../../../etc/passwd")}}, refused: "s/a"},
		{name: "a link to a file of the image that is no part of the skill", layers: []layer{{skill, file("etc/passwd", "x"), symlink("s/a", "../etc/passwd")}}, refused: "s/a"},
		{name: "a file written through a link", layers: []layer{{skill, symlink("s/a", "/tmp")}, {file("s/a/f", "x")}}, files: map[string]string{"s/SKILL.md": "x", "s/a/f": "x"}},
		{name: "a file written through a link in one layer", layers: []layer{{skill, symlink("s/a", "/tmp"), file("s/a/f", "x")}}, files: map[string]string{"s/SKILL.md": "x", "s/a/f": "x"}},
		{name: "a hard link to a file of the host", layers: []layer{{skill, hardlink("s/a", "/etc/shadow")}}, refused: "hard link to no file of the image"},
		{name: "a hard link that leads up", layers: []layer{{skill, hardlink("s/a", "../../etc/shadow")}}, refused: "hard link to no file of the image"},
		{name: "a hard link to a folder", layers: []layer{{skill, hardlink("s/a", "s")}}, refused: "hard link to no file of the image"},
		{name: "a hard link to a link to the host", layers: []layer{{skill, symlink("l", "/etc/shadow"), hardlink("s/a", "l")}}, refused: "absolute path"},
		{name: "a device", layers: []layer{{skill, tar.Header{Name: "s/a", Typeflag: tar.TypeBlock}}}, refused: "special file"},
		{name: "a pipe", layers: []layer{{skill, tar.Header{Name: "s/a", Typeflag: tar.TypeFifo}}}, refused: "special file"},
		{name: "setuid", layers: []layer{{skill, script("s/a", "x")}}, files: map[string]string{"s/SKILL.md": "x", "s/a": "* x"}},
		{name: "a name twice: the last counts", layers: []layer{{skill, file("s/a", "1"), file("s/a", "2")}}, files: map[string]string{"s/SKILL.md": "x", "s/a": "2"}},
		{name: "a file instead of a folder", layers: []layer{{skill, file("s/a/b", "1")}, {file("s/a", "2")}}, files: map[string]string{"s/SKILL.md": "x", "s/a": "2"}},
		{name: "a folder instead of a file", layers: []layer{{skill, file("s/a", "1")}, {file("s/a/b", "2")}}, files: map[string]string{"s/SKILL.md": "x", "s/a/b": "2"}},
		{name: "names that differ in case", layers: []layer{{skill, file("s/a", "1"), file("s/A", "2")}}, refused: "s/A"},
		{name: "a name with an escape sequence", layers: []layer{{skill, file("s/\x1b[2J", "x")}}, refused: `s/`},
		{name: "a name of Windows", layers: []layer{{skill, file(`s/..\..\x`, "x")}}, refused: `s/`},
		{name: "a deep folder", layers: []layer{{skill, file("s/"+deep+"f", "x")}}, refused: "s/d"},
		{name: "folders without end", layers: []layer{many}, refused: "more than 400000 files and folders"},
		{name: "a whiteout of nothing", layers: []layer{{skill, file("s/.wh.", "")}}, refused: "whiteout of nothing"},
		{name: "a whiteout of the folder", layers: []layer{{skill, file("s/.wh..", "")}}, refused: "whiteout of nothing"},
		{name: "a whiteout of the folder above", layers: []layer{{skill, file("s/.wh...", "")}}, refused: "whiteout of nothing"},
		{name: "a whiteout behind a path that leads up", layers: []layer{{skill}, {file("s/../../.wh.s", "")}}, refused: "leads out of it"},
		{name: "a whiteout of what its own layer has", layers: []layer{{skill, file("s/.wh.SKILL.md", "")}}, files: map[string]string{"s/SKILL.md": "x"}},
		{name: "a whiteout of what is not there", layers: []layer{{skill, file("no/such/.wh.x", "")}}, files: map[string]string{"s/SKILL.md": "x"}},
		{name: "a whiteout below a link", layers: []layer{{skill, file("t/f", "x"), symlink("l", "s")}, {file("l/.wh.SKILL.md", "")}}, files: map[string]string{"s/SKILL.md": "x"}},
		{name: "all is whited out", layers: []layer{{skill}, {file(".wh..wh..opq", "")}}, refused: "has no SKILL.md"},
		{name: "SKILL.md is a folder", layers: []layer{{file("s/SKILL.md/x", "x")}}, refused: "has no SKILL.md"},
		{name: "a device outside of the skill", layers: []layer{{skill, tar.Header{Name: "dev/sda", Typeflag: tar.TypeBlock}, symlink("etc/shadow", "/etc/shadow")}}, files: map[string]string{"s/SKILL.md": "x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var layers [][]byte
			for _, l := range test.layers {
				layers = append(layers, tarball(t, true, l...))
			}
			files, err := unpacked(t, layers...)
			if test.refused == "" {
				if diff := cmp.Diff(test.files, files); err != nil || diff != "" {
					t.Errorf("%v, files (-want +got):\n%s", err, diff)
				}
				return
			}
			if err == nil {
				t.Fatalf("it is accepted: %q", files)
			}
			if got := refusal(t, err); !strings.Contains(got, test.refused) {
				t.Errorf("%s, want %q in it", got, test.refused)
			}
		})
	}
}

// TestBombs: what unpacks to too much is refused before it is written. The image has
// almost used up its bounds, because layers that do so themselves take minutes.
func TestBombs(t *testing.T) {
	t.Parallel()
	large, files := file("f", strings.Repeat("\x00", 1<<20)), []tar.Header{file("a", ""), file("b", "")}
	for _, test := range []struct {
		name    string
		nearly  func(*image)
		entries []tar.Header // of each layer
		refused string       // the reason for the second layer
	}{
		{"bytes", func(i *image) { i.left -= maxUnpacked - 3<<19 }, []tar.Header{large}, "unpack to more than 2 GiB"},
		{"files", func(i *image) { i.entries = maxEntries - 3 }, files, "more than 200000 files"},
	} {
		i := newImage()
		test.nearly(i)
		data := tarball(t, true, test.entries...)
		layers := layerFiles(t, t.TempDir(), data, data)
		defer closeAll(layers)
		if err := i.apply(t.Context(), 0, layers[0]); err != nil {
			t.Errorf("%s: within the bound: %v", test.name, err)
		}
		if got := refusal(t, i.apply(t.Context(), 1, layers[1])); !strings.Contains(got, test.refused) {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

// TestBrokenLayers: archives that are none.
func TestBrokenLayers(t *testing.T) {
	t.Parallel()
	whole := tarball(t, true, file("s/SKILL.md", strings.Repeat("x", 1000)))
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"zstd":    {[]byte("\x28\xb5\x2f\xfd...."), "compressed with zstd"},
		"text":    {[]byte(strings.Repeat("no archive ", 100)), "no whole tar file"},
		"cut off": {whole[:len(whole)-20], "no whole tar file"},
		"empty":   {nil, "has no SKILL.md"},
	} {
		_, err := unpacked(t, test.data)
		if got := refusal(t, err); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestHostileArtifacts: manifests and titles that lie.
func TestHostileArtifacts(t *testing.T) {
	t.Parallel()
	a := in(t)
	text := a.blob("text/markdown", []byte(skillText))
	titled := func(title string) v1.Descriptor {
		d := text
		d.Annotations = map[string]string{v1.AnnotationTitle: title}
		return d
	}
	up := a.blob(typeContent, tarball(t, true, file("../../x", "x"), file("pdf/SKILL.md", "x")))
	for name, test := range map[string]struct {
		layers []v1.Descriptor
		want   string
	}{
		"up":       {[]v1.Descriptor{titled("SKILL.md"), titled("../../.bashrc")}, ".bashrc"},
		"absolute": {[]v1.Descriptor{titled("SKILL.md"), titled("/etc/passwd")}, "/etc/passwd"},
		"twice":    {[]v1.Descriptor{titled("SKILL.md"), titled("skill.md")}, "skill.md"},
		"archive":  {[]v1.Descriptor{up}, "../../x"},
		"size":     {[]v1.Descriptor{{MediaType: typeContent, Digest: text.Digest, Size: maxPacked + 1}}, "layers of more than 512 MiB"},
	} {
		tag := strings.ToLower(name)
		if name == "size" {
			if _, err := size(test.layers); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		a.image(tag, typeSkill, test.layers...)
		_, _, err := fetch(t, New(nil), named(a.location(), tag))
		if got := refusal(t, err); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, layers := range map[string][]v1.Descriptor{
		"a negative size":  {{Digest: text.Digest, Size: -1}},
		"an overflow":      {{Digest: text.Digest, Size: maxPacked}, {Digest: text.Digest, Size: 1<<63 - 1}},
		"no digest":        {{Size: 1}},
		"a weak digest":    {{Digest: "md5:d41d8cd98f00b204e9800998ecf8427e", Size: 1}},
		"a path as digest": {{Digest: "sha256:../../x", Size: 1}},
		"too many":         make([]v1.Descriptor, maxLayers+1),
	} {
		if total, err := size(layers); err == nil {
			t.Errorf("%s: accepted, %d bytes", name, total)
		}
	}
}

// TestCanceled: a fetch ends with its context.
func TestCanceled(t *testing.T) {
	t.Parallel()
	a := in(t)
	a.image("1.0", typeSkill, a.blob("text/markdown", []byte("1"), v1.AnnotationTitle, "SKILL.md"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := fetchContext(t, ctx, New(nil), named(a.location(), "1.0")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzImage applies two layers of any bytes: nothing is written outside of the quarantine.
func FuzzImage(f *testing.F) {
	skill := tarball(f, false, file("s/SKILL.md", "x"), symlink("s/a", "../x"), hardlink("s/b", "s/SKILL.md"))
	f.Add(skill, tarball(f, false, file("s/.wh..wh..opq", ""), file("s/SKILL.md", "y")))
	f.Add(skill, tarball(f, true, file("s/a/b", "y"), tar.Header{Name: "d/", Typeflag: tar.TypeDir}))
	f.Add([]byte("\x1f\x8b"), []byte{})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		_, _ = unpacked(t, first, second)
	})
}

// FuzzManifest: no manifest makes a panic, and each is a catalog, refused, or tried.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [{"platform": {"os": "linux"}}]}`))
	f.Add([]byte(`{"artifactType": "application/vnd.agentskills.skill.v1", "layers": [{"digest": "sha256:00", "size": 1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseManifest(text, v1.Descriptor{})
		if err != nil {
			return
		}
		_, _, _ = m.isCatalog(), m.isImage(), m.acceptable()
		_, _ = choosePlatform(m.Manifests)
		if _, err := size(m.Layers); err == nil && len(m.Layers) > maxLayers {
			t.Error("too many layers")
		}
	})
}
