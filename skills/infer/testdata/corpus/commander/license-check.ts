#!/usr/bin/env node
import { Command } from 'commander';
import checker from 'license-checker';

const DEFAULT_ALLOWED = ['MIT', 'ISC', 'Apache-2.0'];

class Cli {
  private readonly program = new Command();

  constructor() {
    this.program
      .name('license-check')
      .description('Check the licences of all dependencies')
      .option('-a, --allow <names...>', 'licences that are fine', DEFAULT_ALLOWED)
      .option('-p, --production', 'without development dependencies')
      .option('--start <dir>', 'folder of the project', '.');
  }

  run(): void {
    this.program.parse(process.argv);
    const options = this.program.opts();
    checker.init({ start: options.start, production: options.production }, (error: Error, packages: object) => {
      if (error) throw error;
      console.log(Object.keys(packages).length, options.allow);
    });
  }
}

new Cli().run();
