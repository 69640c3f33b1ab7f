package docker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/system"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Check checks the engine, its limits and its images. It changes nothing and pulls
// nothing.
func (d *Driver) Check(ctx context.Context) []sandbox.Finding {
	e, err := d.connect(ctx)
	if err != nil {
		return []sandbox.Finding{sandbox.FailedBy("engine", err)}
	}
	findings := []sandbox.Finding{
		checkEngine(e),
		sandbox.OK("runtime", "%s", runtimes(e)),
	}
	findings = append(findings, checkLimits(e.info)...)
	findings = append(findings, checkIsolation(e.info)...)
	for _, role := range slices.Sorted(maps.Keys(d.roles)) {
		findings = append(findings, checkImage(ctx, e, role, d.roles[role]))
	}
	return append(findings, checkLayers(ctx, e)...)
}

func checkEngine(e *engine) sandbox.Finding {
	return sandbox.OK("engine", "%s %s at %s, API version %s, %d CPUs, %s of memory, cgroup version %s, storage %s",
		e.kind, e.version, e.host, e.api.ClientVersion(), e.info.NCPU, sandbox.Bytes(e.info.MemTotal), e.info.CgroupVersion, e.info.Driver)
}

func runtimes(e *engine) string {
	used := e.runtime
	used = cmp.Or(used, e.info.DefaultRuntime)
	return fmt.Sprintf("%s of %s", used, strings.Join(slices.Sorted(maps.Keys(e.info.Runtimes)), ", "))
}

// checkLimits finds the limits that the engine would silently leave out.
func checkLimits(info system.Info) []sandbox.Finding {
	const remedy = "let the engine have the controllers memory, cpu and pids of cgroup version 2"
	var missing []string
	for name, kept := range map[string]bool{
		"memory":    info.MemoryLimit,
		"processes": info.PidsLimit,
		"CPU":       info.CPUCfsQuota,
	} {
		if !kept {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	switch {
	case len(missing) > 0:
		return []sandbox.Finding{sandbox.Failed("limits", "the engine does not keep the limits on "+strings.Join(missing, ", "), remedy)}
	case !info.SwapLimit:
		return []sandbox.Finding{sandbox.Warning("limits", "the engine limits memory, but not the swap used beyond it", remedy)}
	}
	return []sandbox.Finding{sandbox.OK("limits", "memory, processes and CPU are limited")}
}

// checkIsolation returns findings about settings of the engine that weaken sandboxes or
// break them.
func checkIsolation(info system.Info) []sandbox.Finding {
	has := func(name string) bool {
		return slices.ContainsFunc(info.SecurityOptions, func(option string) bool {
			return strings.Contains(","+option+",", ","+name+",")
		})
	}
	var findings []sandbox.Finding
	if !has("name=seccomp") || has("profile=unconfined") {
		findings = append(findings, sandbox.Warning("seccomp", "the engine does not filter system calls", "remove seccomp-profile: unconfined from the engine's configuration"))
	}
	if has("name=selinux") {
		findings = append(findings, sandbox.Warning("selinux", "SELinux keeps containers from folders that are not labelled for them", "label workspaces with: chcon -R -t container_file_t FOLDER"))
	}
	if has("name=rootless") || has("name=userns") {
		findings = append(findings, sandbox.Warning("users", "the engine maps users, so that a command is not the owner of the files in a workspace", "give others access to workspaces that commands are to read or change"))
	}
	if len(findings) == 0 {
		findings = append(findings, sandbox.OK("isolation", "%s", strings.Join(info.SecurityOptions, "; ")))
	}
	return findings
}

// checkImage finds out whether the first command of a role has to wait.
func checkImage(ctx context.Context, e *engine, role, ref string) sandbox.Finding {
	subject := "image " + role
	found, err := e.inspectImage(ctx, role, ref)
	switch {
	case cerrdefs.IsNotFound(err):
		return sandbox.Warning(subject, ref+" is not there; the first call tries to pull it", "get it ahead with: skills-mcp image pull "+role)
	case err != nil:
		return sandbox.FailedBy(subject, err)
	}
	return sandbox.OK(subject, "%s is there (%.19s)", ref, found.id)
}

// checkLayers returns a finding about the layers, where there are any.
func checkLayers(ctx context.Context, e *engine) []sandbox.Finding {
	all, err := e.listLayers(ctx)
	if err != nil {
		return []sandbox.Finding{sandbox.FailedBy("dependencies", err)}
	}
	if len(all) == 0 {
		return nil
	}
	old := 0
	for _, layer := range all {
		if time.Since(layer.Used) >= LayerUnused {
			old++
		}
	}
	finding := sandbox.OK("dependencies", "%d images with packages of skills, %d of them not used for 30 days", len(all), old)
	if old > 0 {
		finding.Level, finding.Remedy = sandbox.LevelWarning, "remove these with: skills-mcp image prune"
	}
	return []sandbox.Finding{finding}
}
