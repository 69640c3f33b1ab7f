const commandLineArgs = require('command-line-args');
const options = commandLineArgs([
  { name: 'src', type: String, multiple: true, defaultOption: true },
  { name: 'format', alias: 'f', type: String, defaultValue: 'webp' },
  { name: 'quality', alias: 'q', type: Number, defaultValue: 80 },
  { name: 'verbose', alias: 'v', type: Boolean },
]);
const sharp = require('sharp');
for (const file of options.src || []) {
  if (options.verbose) console.log(file);
  sharp(file).toFormat(options.format, { quality: options.quality }).toFile(`${file}.${options.format}`);
}
