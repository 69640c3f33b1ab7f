package config

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/server/approval"
)

// validateConsent checks how people prove who they are, and how long their answers count.
func (p Policy) validateConsent() error {
	hashes := map[string]string{"policy.passphrase": p.Passphrase, "policy.script_token": p.ScriptToken}
	for name, hash := range p.Approvers {
		if name == "" || hash == "" {
			return fmt.Errorf("policy.approvers: %q has no name or no hash; make one with: skills-mcp approve --new-passphrase", name)
		}
		hashes["policy.approvers."+name] = hash
	}
	for _, key := range slices.Sorted(maps.Keys(hashes)) {
		if hash := hashes[key]; hash != "" {
			if err := approval.CheckHash(hash); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	for key, d := range map[string]time.Duration{"pending": p.Expiry.Pending, "once": p.Expiry.Once, "always": p.Expiry.Always} {
		if d < 0 {
			return fmt.Errorf("policy.expiry.%s is %s; write a time above 0, such as 10m", key, d)
		}
	}
	return nil
}
