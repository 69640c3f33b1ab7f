#!/usr/bin/env tsx
// Writes an index of all documents in docs/.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Entry { file: string; title: string }

const entries: Entry[] = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ file: name, title: readFileSync(join('docs', name), 'utf8').split('\n')[0].replace(/^#\s*/, '') }));
writeFileSync(join('docs', 'index.json'), JSON.stringify(entries, null, 2));
console.log(`${entries.length} documents`);
