#!/usr/bin/env tsx
import { parseArgs } from 'node:util';
import { readFileSync } from 'node:fs';

const options = JSON.parse(readFileSync(new URL('./options.json', import.meta.url), 'utf8'));
const { values } = parseArgs({ options });
console.log(values);
