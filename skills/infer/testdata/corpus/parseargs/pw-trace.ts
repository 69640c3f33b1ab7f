#!/usr/bin/env -S node --experimental-strip-types
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';

const { values, positionals } = parseArgs({
  options: { headed: { type: 'boolean' }, out: { type: 'string', default: 'trace.zip' }, viewport: { type: 'string', default: '1280x720' } },
  allowPositionals: true,
});
const target = positionals[0];
if (!target) throw new Error('a URL is needed');
const browser = await chromium.launch({ headless: !values.headed });
console.log(target, values.out, values.viewport, browser);
