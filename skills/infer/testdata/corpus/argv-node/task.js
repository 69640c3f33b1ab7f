const fs = require('fs');
const command = process.argv[2];
const tasks = fs.existsSync('tasks.json') ? JSON.parse(fs.readFileSync('tasks.json')) : [];

switch (command) {
  case 'list':
    tasks.forEach((t, i) => console.log(i + 1, t));
    break;
  case 'clear':
    fs.writeFileSync('tasks.json', '[]');
    break;
  case 'count':
    console.log(tasks.length);
    break;
  default:
    console.error('Usage: task.js list|clear|count');
    process.exit(1);
}
