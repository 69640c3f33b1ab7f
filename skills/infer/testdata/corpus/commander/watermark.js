#!/usr/bin/env node
const commander = require('commander');
const sharp = require('sharp');
const program = commander.program;

program.argument('<image>');
program.argument('<text>');
program.addOption(new commander.Option('-p, --position <where>', 'corner').choices(['nw', 'ne', 'sw', 'se']).default('se'));
program.addOption(new commander.Option('-o, --opacity <0-1>', 'opacity').argParser(Number).default(0.4, 'subtle'));
program.addOption(new commander.Option('-q, --quiet').hideHelp());
program.parse();

const { position, opacity, quiet } = program.opts();
const [image, text] = program.args;
sharp(image).composite([{ input: { text: { text } }, gravity: position }]).toFile(`marked-${image}`);
if (!quiet) console.log('opacity', opacity);
