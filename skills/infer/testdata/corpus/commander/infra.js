#!/usr/bin/env node
const { Command } = require('commander');
const program = new Command();
program.name('infra').description('Small tasks for the infrastructure');

const dns = program.command('dns').description('names');
dns.command('add <name> <address>').description('add a name').option('--ttl <seconds>', 'time to live', '300').action(() => {});
dns.command('remove <name>').description('remove a name').action(() => {});

const vm = program.command('vm').description('machines');
vm.command('start <id>').description('start a machine').option('-w, --wait', 'until it runs').action(() => {});
vm.command('resize <id>').description('resize a machine').requiredOption('--size <size>', 'new size').action(() => {});

program.parse(process.argv);
