package skills

// onGrid reads the requirements that ongrid has in the metadata without a name
// of its own:
//
//	metadata: {os: [linux], requires: {bins: [jq], config: [a.b]}}
func onGrid(r *Requires, metadata needs) {
	r.OS = metadata.systems(r.OS, "os")
	programs(r, metadata)
}
