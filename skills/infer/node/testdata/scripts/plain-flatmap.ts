const args = process.argv.slice(2);
const json = args.includes('--json');
const paths = args.filter((a) => !a.startsWith('--'));
console.log(json, paths.flatMap((p) => readFileSync(p, 'utf8').split('\n')));
