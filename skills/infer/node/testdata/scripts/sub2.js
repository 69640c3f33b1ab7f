// A place has the type and the default of its command alone.
const [cmd, value, unit] = process.argv.slice(2);
if (cmd === 'resize') {
  const width = parseInt(value, 10);
  if (!value) { console.error('usage: sub2 resize <width> [unit]'); process.exit(1); }
  resize(width, unit || 'px');
} else if (cmd === 'name') {
  name(value);
} else {
  console.error('unknown');
  process.exit(1);
}
