import { program } from 'commander';
import { optimize } from 'svgo';
import { readdirSync, readFileSync, writeFileSync } from 'fs';

program
  .argument('<source-dir>', 'folder with SVG files')
  .argument('[target-file]', 'sprite to write', 'sprite.svg')
  .option('-p, --prefix <text>', 'prefix of the symbols', 'icon-')
  .option('-c, --current-color', 'replace fills with currentColor')
  .option('--precision <digits>', 'digits of numbers', v => parseInt(v, 10), 2);

program.parse();
const [sourceDir, targetFile] = program.processedArgs;
const { prefix, currentColor, precision } = program.opts();

const symbols = readdirSync(sourceDir).filter(f => f.endsWith('.svg')).map(f => {
  let { data } = optimize(readFileSync(`${sourceDir}/${f}`, 'utf8'), { floatPrecision: precision });
  if (currentColor) data = data.replace(/fill="[^"]*"/g, 'fill="currentColor"');
  return data.replace('<svg', `<symbol id="${prefix}${f.slice(0, -4)}"`).replace('</svg>', '</symbol>');
});
writeFileSync(targetFile, `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`);
