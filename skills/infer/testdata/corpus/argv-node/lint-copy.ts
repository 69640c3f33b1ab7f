#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const args: string[] = process.argv.slice(2);
const flags = new Set(args.filter((a) => a.startsWith('--')));
const paths = args.filter((a) => !a.startsWith('--'));
const strict = flags.has('--strict');
const json = flags.has('--json');

const found = paths.flatMap((p) => readFileSync(p, 'utf8').split('\n').filter((l) => /utilize|leverage/.test(l)));
console.log(json ? JSON.stringify(found) : found.join('\n'));
if (strict && found.length) process.exit(1);
