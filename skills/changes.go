package skills

// Replaced returns what took the places of skills of before, by those skills. It
// is for catalogs in which every skill has its name's place still; ok is false
// where a skill came, went or moved. It costs what changed, and little more.
func (c *Catalog) Replaced(before *Catalog) (by map[*Skill]*Skill, ok bool) {
	if len(c.Skills) != len(before.Skills) {
		return nil, false
	}
	by = map[*Skill]*Skill{}
	for i, s := range c.Skills {
		old := before.Skills[i]
		if s == old {
			continue
		}
		if s.Name != old.Name || s.Plugin != old.Plugin || s.Folder != old.Folder {
			return nil, false
		}
		by[old] = s
	}
	return by, true
}
