#!/usr/bin/env -S npx tsx
import { CronJob } from 'cron';
import { program } from 'tv-programme';

/** Prints the programme of the day each morning. */
async function print(): Promise<void> {
  const today = new Date().toISOString().slice(0, 10);
  console.log(today, program[today] ?? 'nothing');
}

new CronJob('0 7 * * *', print, null, true);
await print();
