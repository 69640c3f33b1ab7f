import fs from 'node:fs';

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.length < 2 || args.length > 3) {
    console.error('Usage: split-csv <file> <rows> [prefix]');
    process.exit(1);
  }
  const file = args[0];
  const rows = parseInt(args[1], 10);
  const prefix = args[2] ?? 'part';

  const [header, ...lines] = fs.readFileSync(file, 'utf8').trim().split('\n');
  for (let i = 0, n = 1; i < lines.length; i += rows, n++) {
    fs.writeFileSync(`${prefix}-${n}.csv`, [header, ...lines.slice(i, i + rows)].join('\n'));
  }
}

main();
