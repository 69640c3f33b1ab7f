import { writeFileSync, readFileSync } from 'node:fs';
import { Command, Option, InvalidArgumentError } from 'commander';

function positiveInt(value: string): number {
  const parsed = parseInt(value, 10);
  if (Number.isNaN(parsed) || parsed <= 0) {
    throw new InvalidArgumentError('Must be a positive number.');
  }
  return parsed;
}

const cli = new Command()
  .name('render-chart')
  .description('Render a chart of a CSV file as SVG')
  .requiredOption('-d, --data <file>', 'CSV file with the data')
  .requiredOption('-x, --x-column <name>', 'column for the x axis')
  .option('-y, --y-column <names...>', 'columns for the y axis', ['value'])
  .addOption(
    new Option('-t, --type <type>', 'type of chart')
      .choices(['line', 'bar', 'scatter'])
      .default('line'),
  )
  .option('--width <px>', 'width in pixels', positiveInt, 800)
  .option('--height <px>', 'height in pixels', positiveInt, 450)
  .option('--no-legend', 'leave out the legend')
  .option('-o, --output <file>', 'SVG file to write', 'chart.svg');

cli.parse();
const o = cli.opts();
const rows = readFileSync(o.data, 'utf8').trim().split('\n').map((l) => l.split(','));
const svg = `<svg width="${o.width}" height="${o.height}"><!-- ${o.type} of ${rows.length} rows --></svg>`;
writeFileSync(o.output, svg);
