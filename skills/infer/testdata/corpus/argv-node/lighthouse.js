#!/usr/bin/env node
const { execSync } = require('child_process');
const url = process.argv[2];
const preset = process.argv[3] === 'mobile' ? 'perf' : 'desktop';

if (!url) {
  console.log('Usage: lighthouse.js <url> [desktop|mobile]');
  process.exit(1);
}
execSync(`npx lighthouse ${url} --preset=${preset} --output=json --output-path=report.json`, { stdio: 'inherit' });
