package kubernetes

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
)

// A Claim is a PersistentVolumeClaim of the Pods' namespace that the server has at Path,
// too, or whose folder SubPath it has there.
type Claim struct{ Path, Claim, SubPath string }

// volumes are the volumes of a Pod beyond those of every Pod, and their mounts in the
// runner.
type volumes struct {
	volumes []corev1.Volume
	mounts  []corev1.VolumeMount
	copies  []copied
}

// A copied folder is loaded into a volume in memory, as that of a skill is.
type copied struct {
	folder, volume string
	size           int64
	changed        time.Time
}

// grantVolumes returns the volumes with the workspaces and data of a grant: from claims, or
// copies of folders. A kubelet follows no link out of the volume on the way to a folder of
// it.
func grantVolumes(grant sandbox.Grant, claims []Claim, folders []string) (volumes, error) {
	var v volumes
	mounts, err := grant.Mounts()
	if err != nil {
		return v, err
	}
	names := map[string]string{} // of volumes, by their claims
	for _, m := range mounts {
		if slices.ContainsFunc(folders, func(folder string) bool { return sandbox.Within(m.Source, folder) }) {
			if err := v.copy(m); err != nil {
				return v, err
			}
			continue
		}
		claim := claimOf(m.Source, claims)
		if claim == nil {
			return v, &sandbox.UnavailableError{
				Reason: fmt.Sprintf("the folder %s is on the server alone, and the cluster's Pods do not see it", m.Source),
				Remedy: "put it on a claim that both have, and name that in sandbox.kubernetes.claims",
			}
		}
		if names[claim.Claim] == "" {
			names[claim.Claim] = fmt.Sprintf("claim-%d", len(names))
			v.volumes = append(v.volumes, corev1.Volume{Name: names[claim.Claim], VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Claim},
			}})
		}
		below, _ := filepath.Rel(claim.Path, m.Source) // it is
		sub := path.Join(claim.SubPath, filepath.ToSlash(below))
		if sub == "." {
			sub = ""
		}
		v.mounts = append(v.mounts, corev1.VolumeMount{Name: names[claim.Claim], MountPath: m.Target, SubPath: sub, ReadOnly: !m.Write})
	}
	return v, nil
}

// copy mounts a copy of a folder.
func (v *volumes) copy(m sandbox.Mount) error {
	if m.Write {
		return &sandbox.UnavailableError{
			Reason: fmt.Sprintf("Pods get a copy of the folder %s, so nothing can write to it", m.Source),
			Remedy: "put it on a claim that the server and the Pods have, and name that in sandbox.kubernetes.claims",
		}
	}
	i := slices.IndexFunc(v.copies, func(c copied) bool { return c.folder == m.Source })
	if i < 0 {
		size, changed, err := folderSize(m.Source)
		if err != nil {
			return err
		}
		i = len(v.copies)
		c := copied{m.Source, fmt.Sprintf("copy-%d", i), size, changed}
		v.copies, v.volumes = append(v.copies, c), append(v.volumes, memory(c.volume, size))
	}
	v.mounts = append(v.mounts, corev1.VolumeMount{Name: v.copies[i].volume, MountPath: m.Target, ReadOnly: true})
	return nil
}

// claimOf returns the claim with a folder, the one nearest to it; nil if there is none.
func claimOf(folder string, claims []Claim) (nearest *Claim) {
	for i, c := range claims {
		if sandbox.Within(folder, c.Path) && (nearest == nil || len(c.Path) > len(nearest.Path)) {
			nearest = &claims[i]
		}
	}
	return nearest
}

// guardDir is the folder of a claim in which all servers that have it keep the state of a
// [protect.Guard]. A server's own would not know of the commands of others.
const guardDir = ".skills-mcp"

// hold protects the writable workspaces of cmd, as [protect.Guard.Hold] does, on each of their
// claims.
func hold(cmd *sandbox.Command, claims []Claim, outlives time.Duration) (covered *sandbox.Command, release func(), err error) {
	of := map[*Claim][]string{}
	for _, workspace := range cmd.Grant.Workspaces {
		claim, outer := claimOf(workspace, claims), cmd.Grant.Around(workspace)
		if claim == nil || outer != "" && claimOf(outer, claims) != claim {
			return nil, nil, fmt.Errorf("workspace %s: it is on no claim, or in a workspace of another one", workspace)
		}
		of[claim] = append(of[claim], workspace)
	}
	with := *cmd
	var all []func()
	release = func() {
		for _, one := range all {
			one()
		}
	}
	for claim, workspaces := range of {
		part := *cmd
		part.Grant.Workspaces = workspaces
		held, one, err := protect.New(filepath.Join(claim.Path, guardDir)).Hold(&part, outlives)
		if err != nil {
			release()
			return nil, nil, err
		}
		all = append(all, one)
		with.Grant.Covers = append(with.Grant.Covers, held.Grant.Covers...)
		for _, workspace := range workspaces {
			if sandbox.Within(claim.Path, workspace) { // the command sees the guard's folder
				with.Grant.Covers = append(with.Grant.Covers, sandbox.Cover{Workspace: workspace, Path: guardDir})
			}
		}
	}
	return &with, release, nil
}

// minFolder is the room for a folder. Larger folders get the next power of two, so that few
// kinds of blank Pods are needed.
const minFolder = 32 << 20

// room returns the room for a skill's folder, which is a snapshot: it does not change.
func (c *cluster) room(folder string) (int64, error) {
	if known, ok := c.rooms.Load(folder); ok {
		return known.(int64), nil
	}
	size, _, err := folderSize(folder)
	if err == nil {
		c.rooms.Store(folder, size)
	}
	return size, err
}

// folderSize returns the room for a folder in memory, and the time of its last change.
func folderSize(folder string) (room int64, changed time.Time, err error) {
	if !filepath.IsAbs(folder) {
		return 0, changed, fmt.Errorf("load the folder %q: it is not an absolute path", folder)
	}
	var size int64
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			const page = 4096
			size += (info.Size() + 2*page - 1) / page * page
			if info.ModTime().After(changed) {
				changed = info.ModTime()
			}
		}
		return err
	})
	if err != nil {
		return 0, changed, fmt.Errorf("load the folder %s: %w", folder, err)
	}
	for room = minFolder; room < size; {
		room *= 2
	}
	return room, changed, nil
}

// memory returns a volume in memory.
func memory(name string, size int64) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
		Medium: corev1.StorageMediumMemory, SizeLimit: resource.NewQuantity(size, resource.BinarySI),
	}}}
}
