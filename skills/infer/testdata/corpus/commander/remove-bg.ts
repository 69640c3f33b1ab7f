#!/usr/bin/env bun
import { Command } from 'commander';
const cli = new Command();
cli.argument('<image>', 'image to read').argument('[result]', 'image to write', 'no-bg.png');
cli.option('-c, --color <hex>', 'colour of the new background');
cli.option('-t, --tolerance <percent>', 'tolerance', (v: string) => Number(v), 10);
cli.option('-p, --preview', 'open the result', false);
cli.parse(process.argv);
const [image, result] = cli.processedArgs as [string, string];
const options = cli.opts<{ color?: string; tolerance: number; preview: boolean }>();
console.log(image, result, options.color, options.tolerance, options.preview);
