#!/usr/bin/env node
import chalk from 'chalk';
import ora from 'ora';

const spinner = ora('Loading').start();
await new Promise((resolve) => setTimeout(resolve, 1000));
spinner.succeed(chalk.green('Done'));
