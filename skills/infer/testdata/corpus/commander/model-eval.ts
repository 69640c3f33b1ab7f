#!/usr/bin/env -S npx tsx
import { Command, Option, InvalidArgumentError } from 'commander';

const parseRatio = (value: string): number => {
  const n = Number(value);
  if (!(n >= 0 && n <= 1)) throw new InvalidArgumentError('must be between 0 and 1');
  return n;
};

const METRICS = ['accuracy', 'f1', 'bleu'] as const;

const program = new Command();
program
  .name('model-eval')
  .description('Evaluate a model on a data set')
  .argument('<dataset>', 'JSONL file with prompts and answers')
  .addOption(new Option('-m, --metric <metric>', 'metric').choices(METRICS).default('accuracy'))
  .option('-s, --sample <ratio>', 'part of the data set', parseRatio, 1)
  .addOption(new Option('--seed <n>', 'seed of the sample').argParser(parseInt))
  .addOption(new Option('--api-key <key>', 'key of the service').env('OPENAI_API_KEY').makeOptionMandatory())
  .action(async (dataset, options) => console.log(dataset, options));
await program.parseAsync(process.argv);
