#!/usr/bin/env node
import parseArgs from 'minimist';
const { bump, preid, 'dry-run': dryRun, _: [pkg] } = parseArgs(process.argv.slice(2), {
  string: ['bump', 'preid'],
  boolean: ['dry-run'],
  default: { bump: 'patch' },
});
if (!pkg) {
  console.error('usage: cut-release <package> [--bump kind] [--preid id] [--dry-run]');
  process.exit(1);
}
console.log(pkg, bump, preid, dryRun);
