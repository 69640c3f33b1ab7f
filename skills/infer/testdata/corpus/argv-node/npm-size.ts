#!/usr/bin/env tsx
const pkg = process.argv[2];
const version = process.argv[3] ?? 'latest';

if (pkg === undefined) {
  process.stderr.write('usage: npm-size <package> [version]\n');
  process.exit(1);
}

const meta = await fetch(`https://registry.npmjs.org/${pkg}/${version}`).then((r) => r.json());
console.log(`${meta.name}@${meta.version}: ${(meta.dist.unpackedSize / 1024).toFixed(1)} kB`);
