package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Granted folders are mounted from the nearest claim, with what protects them.
func TestGrantVolumes(t *testing.T) {
	claims := []Claim{{Path: "/w", Claim: "work"}, {Path: "/w/team", Claim: "team", SubPath: "a/b"}, {Path: "/data", Claim: "work", SubPath: "data"}}
	v, err := grantVolumes(sandbox.Grant{
		Workspaces: []string{"/w/one", "/w/team/two", "/w/team"}, Write: true, Data: "/data/plugin",
		Covers: []sandbox.Cover{{Workspace: "/w/one", Path: ".git"}, {Workspace: "/w/one", Path: ".github", Write: true}},
	}, claims, []string{"/w/copied"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range v.mounts {
		mode := "rw"
		if m.ReadOnly {
			mode = "ro"
		}
		got = append(got, strings.Join([]string{m.MountPath, m.Name, m.SubPath, mode}, " "))
	}
	want := []string{
		"/plugin-data claim-0 data/plugin rw",
		"/w/one claim-0 one rw", "/w/one/.git claim-0 one/.git ro", "/w/one/.github claim-0 one/.github rw",
		"/workspace claim-0 one rw", "/workspace/.git claim-0 one/.git ro", "/workspace/.github claim-0 one/.github rw",
		"/w/team claim-1 a/b rw", // with two in it
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(v.volumes) != 2 || v.volumes[1].PersistentVolumeClaim.ClaimName != "team" {
		t.Errorf("volumes %v", v.volumes)
	}
	for _, grant := range []sandbox.Grant{{Workspaces: []string{"/w/one", "/wide"}}, {Data: "/plugins"}} {
		_, err := grantVolumes(grant, claims, nil)
		if none, ok := errors.AsType[*sandbox.UnavailableError](err); !ok || !strings.Contains(none.Remedy, "sandbox.kubernetes.claims") {
			t.Errorf("%v: %v", grant, err)
		}
	}
}

// claim makes a folder that is a claim in the cluster, too.
func (r *realCluster) claim(t *testing.T, name string) Claim {
	t.Helper()
	c, folder := r.cluster(t), filepath.Join(t.TempDir(), name)
	if err := errors.Join(os.Mkdir(folder, 0o777), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	volume, class := r.namespace+"-"+name, ""
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	_, err := c.core.PersistentVolumes().Create(t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: volume},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			ClaimRef:               &corev1.ObjectReference{Namespace: r.namespace, Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.core.PersistentVolumes().Delete(context.Background(), volume, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	_, err = c.core.PersistentVolumeClaims(r.namespace).Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: modes, StorageClassName: &class, VolumeName: volume, Resources: corev1.VolumeResourceRequirements{Requests: size}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return Claim{Path: folder, Claim: name}
}

// A command and the server see the same files in two workspaces on two claims and in a data
// folder; protected paths stay unchanged.
func TestClaims(t *testing.T) {
	r := newRealCluster(t)
	one, two := r.claim(t, "one"), r.claim(t, "two")
	first, second, data, skill := filepath.Join(one.Path, "app"), two.Path, filepath.Join(one.Path, "data"), t.TempDir()
	for _, dir := range []string{first, data, filepath.Join(first, ".git"), filepath.Join(second, "below")} {
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(first, "a.txt"), filepath.Join(second, "below", "b.txt")} {
		if err := os.WriteFile(file, []byte(filepath.Base(file)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := r.options()
	o.Claims = []Claim{one, two}
	d := New(o)
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	run := func(script string, grant sandbox.Grant) string {
		t.Helper()
		var out bytes.Buffer
		exit, err := d.Run(t.Context(), &sandbox.Command{
			RunID: "claims", Skill: "claims", Folder: skill, Grant: grant, Warm: -1, Limits: sandbox.DefaultLimits(),
			Argv: []string{"/bin/sh", "-c", script, "sh", first, second}, Stdout: &out, Stderr: &out, Progress: func(string) {},
		})
		if err != nil || exit.Code != 0 {
			t.Fatalf("%v, %v: %s", exit, err, out.String())
		}
		return out.String()
	}
	both := sandbox.Grant{Workspaces: []string{first, second}, Data: data}
	got := run(`cat $1/a.txt /workspace/a.txt $2/below/b.txt; echo x 2>/dev/null >$1/new || echo read-only; echo kept >/plugin-data/kept`, both)
	if got != "a.txt\na.txt\nb.txt\nread-only\n" {
		t.Errorf("reading: %q", got)
	}
	both.Write = true
	got = run(`
cat /plugin-data/kept; echo x >$1/new; echo y >/workspace/new2; echo z >$2/below/new
for path in $1/.git/hook /workspace/.git/hook $1/.claude/x; do echo x 2>/dev/null >$path && echo wrote $path; done
mv $1/.git $1/.gone 2>/dev/null && echo moved; echo x 2>/dev/null >$2/.skills-mcp/journal && echo forged; mv $2/.skills-mcp $2/.gone 2>/dev/null && echo moved; rm -rf $2/.vscode 2>/dev/null; [ -d $2/.vscode ] || echo removed; true`, both)
	if got != "kept\n" {
		t.Errorf("writing: %q", got)
	}
	for _, file := range []string{filepath.Join(first, "new"), filepath.Join(first, "new2"), filepath.Join(second, "below", "new"), filepath.Join(data, "kept")} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	// The guard's folders go when nothing of the command runs.
	deadline := time.Now().Add(5 * time.Minute)
	for _, err := os.Stat(filepath.Join(first, ".claude")); err == nil && time.Now().Before(deadline); _, err = os.Stat(filepath.Join(first, ".claude")) {
		sleep(t.Context(), 100*time.Millisecond)
	}
	if left, _ := os.ReadDir(first); len(left) != 4 {
		t.Errorf("left in the workspace: %v", left)
	}
}

// Pods get copies of two folders as they are now, and a command that may write none.
func TestCopies(t *testing.T) {
	r := newRealCluster(t)
	root := t.TempDir()
	first, second, skill := filepath.Join(root, "one"), filepath.Join(root, "two"), t.TempDir()
	write := func(dir, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write(first, "one")
	write(second, "two")
	o := r.options()
	o.Copied = []string{root}
	d := New(o)
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	run := func(write bool) (string, error) {
		var out bytes.Buffer
		_, err := d.Run(t.Context(), &sandbox.Command{
			RunID: "copies", Skill: "copies", Folder: skill, Grant: sandbox.Grant{Workspaces: []string{first, second}, Write: write}, Limits: sandbox.DefaultLimits(),
			Argv: []string{"/bin/sh", "-c", `cat /workspace/a.txt $1/a.txt $2/a.txt; touch $1/b 2>/dev/null && echo written`, "sh", first, second}, Stdout: &out, Stderr: &out, Progress: func(string) {},
		})
		return out.String(), err
	}
	if got, err := run(false); got != "one\none\ntwo\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	write(second, "changed")
	if got, err := run(false); got != "one\none\nchanged\n" || err != nil {
		t.Errorf("after a change: %q, %v", got, err)
	}
	if _, err := run(true); err == nil || !strings.Contains(err.Error(), "nothing can write to it") {
		t.Errorf("writing: %v", err)
	}
}
