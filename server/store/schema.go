package store

// schemas returns the statements that make the tables.
func schemas() []string {
	return []string{generationSchema, decisionsSchema, feedbackSchema, runsSchema, usesSchema}
}

// nowMS is the time of the database, in ms since 1970.
const nowMS = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

// version is the version of the schema, which the file names (PRAGMA user_version). A file
// of another one is refused: it may hold decisions that this program does not read.
const version = 3

// generationSchema counts the changes of the person's decisions. Tables of decisions have
// triggers that add to it; the record of runs has none. It starts at the time, so that a
// file that replaces another one has not the same number.
const generationSchema = `
CREATE TABLE generation (n INTEGER NOT NULL);
INSERT INTO generation VALUES (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER));`

// decisionsSchema holds the decisions of people, and the state of skills that follows from
// them. Caches of decisions read the generation; approvals, which nothing caches, leave it,
// as does a pin that blocks nothing: the first use of a skill changes nothing for others.
const decisionsSchema = `
CREATE TABLE decisions (
	kind    TEXT NOT NULL,
	key     TEXT NOT NULL,
	owner   TEXT NOT NULL,
	about   TEXT NOT NULL,
	state   TEXT NOT NULL,
	expires INTEGER NOT NULL, -- s since 1970; 0: never
	body    BLOB NOT NULL,
	notes   BLOB NOT NULL,
	proofs  TEXT NOT NULL,    -- JSON
	mac     BLOB NOT NULL,
	PRIMARY KEY (kind, key)
) STRICT;
CREATE INDEX decisions_about ON decisions (kind, about);
CREATE INDEX decisions_state ON decisions (kind, state);
CREATE TRIGGER decisions_added AFTER INSERT ON decisions FOR EACH ROW WHEN (new.kind NOT IN ('approval', 'pin'))
	BEGIN UPDATE generation SET n = n + 1; END;
CREATE TRIGGER decisions_changed AFTER UPDATE ON decisions FOR EACH ROW WHEN (new.kind NOT IN ('approval', 'pin') OR new.kind = 'pin' AND old.state <> new.state)
	BEGIN UPDATE generation SET n = n + 1; END;
CREATE TRIGGER decisions_removed AFTER DELETE ON decisions FOR EACH ROW WHEN (old.kind NOT IN ('approval', 'pin') OR old.kind = 'pin' AND old.state <> '')
	BEGIN UPDATE generation SET n = n + 1; END;`

// feedbackSchema holds the ratings of skills.
const feedbackSchema = `
CREATE TABLE feedback (
	seq INTEGER PRIMARY KEY,
	skill TEXT NOT NULL,     -- qualified name
	origin TEXT NOT NULL,
	principal TEXT NOT NULL, -- the kind
	ok INTEGER NOT NULL,
	note TEXT NOT NULL,
	at INTEGER NOT NULL      -- ms since 1970
) STRICT;
CREATE INDEX feedback_of ON feedback (skill, origin, principal);`

// runsSchema holds the record. Rows are in the order of their ends; the columns that
// filters read come first, before the long ones.
const runsSchema = `
CREATE TABLE runs (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL,
	ended INTEGER NOT NULL, -- ms since 1970, grows with seq
	started INTEGER NOT NULL,
	outcome TEXT NOT NULL,
	skill TEXT NOT NULL,
	pid INTEGER NOT NULL,
	times INTEGER NOT NULL,
	duration INTEGER NOT NULL, -- ns
	exit INTEGER,
	error TEXT NOT NULL,
	parent TEXT NOT NULL,
	principal TEXT NOT NULL,
	subject TEXT NOT NULL,
	profile TEXT NOT NULL,
	way TEXT NOT NULL,
	action TEXT NOT NULL,
	origin TEXT NOT NULL,
	digest TEXT NOT NULL,
	class TEXT NOT NULL,
	rule TEXT NOT NULL,
	approval TEXT NOT NULL,
	limited TEXT NOT NULL,
	stdout INTEGER NOT NULL, -- bytes, as the next two
	stderr INTEGER NOT NULL,
	files INTEGER NOT NULL,
	message TEXT NOT NULL,
	granted TEXT NOT NULL, -- JSON, as the next two
	connections TEXT NOT NULL,
	args TEXT NOT NULL
) STRICT;
CREATE INDEX runs_id ON runs (id);
CREATE INDEX runs_skill ON runs (skill);
CREATE INDEX runs_outcome ON runs (outcome);
CREATE INDEX runs_parent ON runs (parent) WHERE parent <> '';`

// usesSchema holds how often skills were called.
const usesSchema = `
CREATE TABLE uses (
	skill TEXT PRIMARY KEY, -- qualified name
	calls INTEGER NOT NULL,
	last INTEGER NOT NULL   -- ms since 1970
) WITHOUT ROWID, STRICT;`

// itemsSchema holds the items that servers share, and the servers. A file gets it at the
// first use, as most never have an item.
const itemsSchema = `
CREATE TABLE IF NOT EXISTS items (
	kind     TEXT NOT NULL,
	key      TEXT NOT NULL,
	owner    TEXT NOT NULL,
	instance INTEGER NOT NULL,
	version  INTEGER NOT NULL,
	expires  INTEGER NOT NULL, -- ms since 1970; 0: never
	body     BLOB NOT NULL,
	PRIMARY KEY (kind, key)
) STRICT;
CREATE TABLE IF NOT EXISTS instances (
	n INTEGER PRIMARY KEY,
	since INTEGER NOT NULL,  -- ms since 1970: from then on it was renewed in time
	renewed INTEGER NOT NULL
) STRICT;`
