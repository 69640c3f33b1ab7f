#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error('usage: word-count.mjs FILE...');
  process.exit(2);
}
let total = 0;
for (const file of files) {
  const words = readFileSync(file, 'utf8').split(/\s+/).filter(Boolean).length;
  console.log(`${words}\t${file}`);
  total += words;
}
console.log(`${total}\ttotal`);
