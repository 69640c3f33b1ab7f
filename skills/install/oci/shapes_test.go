package oci

import (
	"archive/tar"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	specs "github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// TestShapes fetches each shape of artifacts that skills are published in.
func TestShapes(t *testing.T) {
	t.Parallel()
	layer := func(a artifact, kind string, headers ...tar.Header) v1.Descriptor {
		return a.blob(kind, tarball(a.t, !strings.HasSuffix(kind, ".tar"), headers...))
	}
	pdf := map[string]string{"pdf/SKILL.md": skillText, "pdf/scripts/read.sh": "* #!/bin/sh\n"}
	content := []tar.Header{file("pdf/SKILL.md", skillText), script("pdf/scripts/read.sh", "#!/bin/sh\n")}
	for _, test := range []struct {
		name  string
		push  func(a artifact) v1.Descriptor
		files map[string]string
	}{
		{
			name: "community, one content layer",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", typeSkill, layer(a, typeContent, content...))
			},
			files: pdf,
		},
		{
			name: "a folder that ORAS has pushed",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", typeSkill, a.blob("application/vnd.oci.image.layer.v1.tar+gzip", tarball(a.t, true, content...), v1.AnnotationTitle, "pdf", "io.deis.oras.content.unpack", "true"))
			},
			files: pdf,
		},
		{
			name: "before artifact types: by the configuration's type",
			push: func(a artifact) v1.Descriptor {
				return a.manifest(v1.MediaTypeImageManifest, "1.0", v1.Manifest{
					Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest,
					Config: a.blob(typeConfig, []byte(`{}`)), Layers: []v1.Descriptor{layer(a, typeContent, content...)},
				})
			},
			files: pdf,
		},
		{
			name: "Alibaba Cloud",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", "application/vnd.agent.skill.v1+json", layer(a, "application/vnd.agent.skill.content.v1.tar+gzip", file("SKILL.md", skillText)))
			},
			files: map[string]string{"SKILL.md": skillText},
		},
		{
			name: "ToolHive, an index of images",
			push: func(a artifact) v1.Descriptor {
				mine := a.image("mine", "dev.toolhive.skills.v1", layer(a, v1.MediaTypeImageLayerGzip, file("SKILL.md", skillText)))
				mine.Platform = &v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
				other := a.image("other", "dev.toolhive.skills.v1", layer(a, v1.MediaTypeImageLayerGzip, file("SKILL.md", "other")))
				other.Platform = &v1.Platform{OS: "linux", Architecture: "riscv64"}
				return a.manifest(v1.MediaTypeImageIndex, "1.0", v1.Index{
					Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, ArtifactType: "dev.toolhive.skills.v1", Manifests: []v1.Descriptor{other, mine},
				})
			},
			files: map[string]string{"SKILL.md": skillText},
		},
		{
			name: "an image from scratch",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", "", layer(a, v1.MediaTypeImageLayer, file("./SKILL.md", skillText), script("./run.sh", "#!/bin/sh\n")))
			},
			files: map[string]string{"SKILL.md": skillText, "run.sh": "* #!/bin/sh\n"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := in(t)
			pushed := test.push(a)
			r := named(a.location(), "1.0")
			fetched, files, err := fetch(t, newFetcher(t, download.Options{}, ""), r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.files, files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]source.Tree{{Path: "."}}, fetched.Trees); diff != "" {
				t.Errorf("trees (-want +got):\n%s", diff)
			}
			revision, err := newFetcher(t, download.Options{}, "").Revision(t.Context(), r.Source)
			if err != nil || revision != fetched.Revision || revision != pushed.Digest.String() {
				t.Errorf("the revision is %q, later %q (%v), pushed %s", fetched.Revision, revision, err, pushed.Digest)
			}
			if len(fetched.Checked) != 0 {
				t.Errorf("a tag is a proof: %q", fetched.Checked)
			}
		})
	}
}

// TestPins: a digest is fetched also when its tag has moved.
func TestPins(t *testing.T) {
	t.Parallel()
	a := in(t)
	first := a.image("latest", typeSkill, a.blob(typeContent, tarball(t, true, file("SKILL.md", "1"))))
	second := a.image("latest", typeSkill, a.blob(typeContent, tarball(t, true, file("SKILL.md", "2"))))
	for _, test := range []struct{ ref, pin, revision, text string }{
		{"", "", second.Digest.String(), "2"},
		{"latest", first.Digest.String(), first.Digest.String(), "1"},
		{first.Digest.String(), "", first.Digest.String(), "1"},
	} {
		r := named(a.location(), test.ref)
		r.Source.Pin = test.pin
		fetched, files, err := fetch(t, newFetcher(t, download.Options{}, ""), r)
		if err != nil {
			t.Fatal(err)
		}
		pinned := test.pin != "" || strings.Contains(test.ref, ":")
		if (len(fetched.Checked) == 1) != pinned {
			t.Errorf("%+v: the proofs are %q", test, fetched.Checked)
		}
		if fetched.Revision != test.revision || files["SKILL.md"] != test.text {
			t.Errorf("%+v: %s, %q", test, fetched.Revision, files)
		}
	}
}

// TestNoSkill: images, catalogs and artifacts in several layers are refused in one sentence.
func TestNoSkill(t *testing.T) {
	t.Parallel()
	a := in(t)
	tgz := a.blob(v1.MediaTypeImageLayerGzip, tarball(t, true, file("etc/passwd", "root")))
	text := a.blob("text/markdown", []byte(skillText), v1.AnnotationTitle, "SKILL.md")
	one := a.image("os", "", tgz, a.blob(v1.MediaTypeImageLayerGzip, tarball(t, true, file("SKILL.md", skillText))))
	a.image("files", typeSkill, text, tgz)
	a.image("file", typeSkill, text)
	index := func(all ...v1.Descriptor) v1.Index {
		return v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, Manifests: all}
	}
	a.manifest(v1.MediaTypeImageIndex, "catalog", index(one, one))
	a.manifest(v1.MediaTypeImageIndex, "nothing", index())
	for tag, want := range map[string]string{
		"os":      "the artifact has 2 layers, and a skill's has one; ask its author to publish the skill with skills-mcp push; images are not read",
		"files":   "the artifact has 2 layers, and a skill's has one",
		"file":    "it is neither a ZIP nor a tar.gz file",
		"catalog": "it is a list of 2 artifacts; name the artifact of one skill",
		"nothing": "it is a list of 0 artifacts",
	} {
		_, _, err := fetch(t, newFetcher(t, download.Options{}, ""), named(a.location(), tag))
		if got := refusal(t, err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", tag, got)
		}
	}
}
