#!/usr/bin/env node
// Convert a Markdown file to HTML.
const fs = require('fs');
const { marked } = require('marked');

const input = process.argv[2];
const output = process.argv[3];

if (!input || !output) {
  console.error('Usage: node md-to-html.js <input.md> <output.html>');
  process.exit(1);
}

const html = marked(fs.readFileSync(input, 'utf8'));
fs.writeFileSync(output, html);
console.log(`Wrote ${output}`);
