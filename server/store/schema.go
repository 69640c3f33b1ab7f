package store

import "fmt"

// version is the version of the schema, which the file names (PRAGMA user_version).
const version = 2

// schema returns the statements that make the tables of an empty file.
func schema() []string {
	return []string{
		generationSchema,
		workspacesSchema, decided("workspaces"),
		pinsSchema,
		approvalsSchema,
		feedbackSchema,
		runsSchema,
		rulesSchema, decided("rules"),
	}
}

// changes returns the statements that change the tables of version 1, one for each later
// version.
func changes() []string { return []string{approvalKeys} }

// generationSchema counts the changes of the person's decisions. Tables of decisions have
// triggers that add to it; the record of runs has none. It starts at the time, so that a
// file that replaces another one has not the same number.
const generationSchema = `
CREATE TABLE generation (n INTEGER NOT NULL);
INSERT INTO generation VALUES (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER));`

// decided returns the triggers that count the changes of a table.
func decided(table string) string {
	var all string
	for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
		all += fmt.Sprintf("CREATE TRIGGER %s_%s AFTER %s ON %s BEGIN UPDATE generation SET n = n + 1; END;\n", table, event, event, table)
	}
	return all
}
