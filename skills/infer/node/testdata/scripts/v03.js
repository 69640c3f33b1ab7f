const watch = process.argv.includes('--watch');
const port = Number(process.argv[2] ?? 3000);
