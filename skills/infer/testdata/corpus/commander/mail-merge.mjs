import { Command } from 'commander';
import nodemailer from 'nodemailer';

const program = new Command()
  .requiredOption('--template <file>', 'template of the mail')
  .requiredOption('--recipients <file>', 'CSV file with the recipients')
  .option('--from <address>', 'sender', process.env.MAIL_FROM)
  .option('--delay <ms>', 'pause between mails', Number, 250)
  .option('--test', 'print the mails and send none');
program.parse();
const options = program.opts();
const transport = options.test ? null : nodemailer.createTransport(process.env.SMTP_URL);
console.log(options.template, options.recipients, transport, options.delay);
