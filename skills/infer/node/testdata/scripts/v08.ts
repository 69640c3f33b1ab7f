async function main(argv: string[]): Promise<number> {
  const [file, ...rest] = argv;
  if (!file) { console.error('Usage: v08 <file> [names...]'); return 1; }
  for (const r of rest) console.log(r);
  return 0;
}
main(process.argv.slice(2)).then((c) => process.exit(c));
