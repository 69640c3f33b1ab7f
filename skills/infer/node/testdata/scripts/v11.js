const args = process.argv.slice(2);
const options = { input: null, output: './dist', minify: false };
let i = 0;
while (i < args.length) {
  const [key, value] = args[i].split('=');
  if (key === '--input') options.input = value;
  else if (key === '--output') options.output = value;
  else if (key === '--minify') options.minify = true;
  i++;
}
if (!options.input) { console.error('missing --input'); process.exit(1); }
