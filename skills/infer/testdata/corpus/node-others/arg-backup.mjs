import arg from 'arg';
const spec = { '--target': String, '--jobs': Number, '--dry-run': Boolean, '-t': '--target', '-j': '--jobs', '-n': '--dry-run' };
const args = arg(spec);
if (!args['--target']) {
  console.error('--target is required');
  process.exit(1);
}
console.log(args['--target'], args['--jobs'] ?? 1, args['--dry-run']);
