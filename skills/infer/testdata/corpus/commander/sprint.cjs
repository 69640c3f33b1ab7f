const { Command } = require('commander');

function addReport(parent) {
  return parent
    .command('report')
    .description('report of a sprint')
    .argument('<sprint>', 'number of the sprint')
    .option('--format <format>', 'md or html', 'md')
    .action((sprint, options) => console.log(sprint, options.format));
}

function addPlan(parent) {
  const plan = parent.command('plan').description('plan a sprint');
  plan.argument('<goal>', 'goal of the sprint');
  plan.option('--days <n>', 'length in days', parseInt, 10);
  plan.option('--team <names...>', 'who works on it');
  plan.action((goal, options) => console.log(goal, options.days, options.team));
}

const program = new Command();
addReport(program);
addPlan(program);
program.parse(process.argv);
