// Check that a URL answers.
// Usage: node http-check.mjs <url> [--timeout ms] [--expect status]
const args = process.argv.slice(2);

function option(name, fallback) {
  const index = args.indexOf(name);
  return index >= 0 && index + 1 < args.length ? args[index + 1] : fallback;
}

const url = args[0];
const timeout = Number(option('--timeout', '5000'));
const expect = Number(option('--expect', '200'));

if (!url || url.startsWith('--')) {
  console.error('no URL is given');
  process.exit(2);
}
const response = await fetch(url, { signal: AbortSignal.timeout(timeout) });
console.log(response.status);
process.exit(response.status === expect ? 0 : 1);
