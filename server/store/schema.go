package store

// version is the version of the schema, which the file names (PRAGMA user_version). A file
// of another one is refused: it may hold decisions that this program does not read.
const version = 3

// schema returns the statements that make the tables of an empty file.
func schema() []string {
	return []string{generationSchema, decisionsSchema, feedbackSchema, runsSchema, usesSchema}
}

// generationSchema counts the changes of the person's decisions. Tables of decisions have
// triggers that add to it; the record of runs has none. It starts at the time, so that a
// file that replaces another one has not the same number.
const generationSchema = `
CREATE TABLE generation (n INTEGER NOT NULL);
INSERT INTO generation VALUES (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER));`
