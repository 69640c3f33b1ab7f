const { spawnSync } = require('child_process');

let input, output, bitrate = '192k', mono = false;
const argv = process.argv.slice(2);
for (let i = 0; i < argv.length; i++) {
  switch (argv[i]) {
    case '-i':
    case '--input':
      input = argv[++i];
      break;
    case '-o':
    case '--output':
      output = argv[++i];
      break;
    case '--bitrate':
      bitrate = argv[++i];
      break;
    case '--mono':
      mono = true;
      break;
    default:
      console.error(`Unknown option ${argv[i]}`);
      process.exit(2);
  }
}
if (!input || !output) {
  console.error('--input and --output are needed');
  process.exit(2);
}
spawnSync('ffmpeg', ['-i', input, '-b:a', bitrate, ...(mono ? ['-ac', '1'] : []), output], { stdio: 'inherit' });
