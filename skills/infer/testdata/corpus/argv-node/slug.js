#!/usr/bin/env node
// Print a slug of the given words.
const title = process.argv.slice(2).join(' ');
if (!title) {
  console.error('usage: slug.js <title...>');
  process.exit(1);
}
console.log(title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, ''));
