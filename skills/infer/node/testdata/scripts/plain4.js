const args = process.argv.slice(2);
const flags = args.filter(a => a.startsWith('--'));
const files = args.filter(a => !a.startsWith('--'));
const [first, second = 'b'] = files;
const quiet = args.includes('--quiet');
if (files.length === 0) throw new Error('no files');
console.log(JSON.stringify({ first, second, quiet }));
