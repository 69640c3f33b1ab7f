let input = null, out = 'x';
for (const arg of process.argv.slice(2)) {
  if (arg.startsWith('--out=')) out = arg.split('=')[1];
  else if (arg === '--all') all = true;
  else if (!input) input = arg;
}
