package install

import "context"

// shareLock writes the entries of skills-lock.json for a project.
func (i *Installer) shareLock(ctx context.Context, c *change) error { return nil }
