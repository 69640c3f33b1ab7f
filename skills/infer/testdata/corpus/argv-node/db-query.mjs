#!/usr/bin/env node
/**
 * Run a query against the SQLite database.
 *
 * Usage: db-query.mjs <database> <sql> [--csv]
 *   database  path of the file
 *   sql       statement to run
 *   --csv     print CSV
 */
import Database from 'better-sqlite3';

const args = process.argv.slice(2);
const csv = args.includes('--csv');
const [database, sql] = args.filter((a) => a !== '--csv');
if (!database || !sql) {
  console.error('Usage: db-query.mjs <database> <sql> [--csv]');
  process.exit(1);
}
const rows = new Database(database, { readonly: true }).prepare(sql).all();
console.log(csv ? rows.map((r) => Object.values(r).join(',')).join('\n') : JSON.stringify(rows, null, 2));
