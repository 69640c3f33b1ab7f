#!/usr/bin/env node
const { Command } = require('commander');
const fs = require('fs');
const program = new Command();

for (const file of fs.readdirSync(`${__dirname}/commands`)) {
  require(`./commands/${file}`)(program);
}
program.parse(process.argv);
