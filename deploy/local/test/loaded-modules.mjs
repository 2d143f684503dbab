// Preloaded with --import: writes the URL of every module that a process loads into the file LOADED_MODULES names.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const urls = [];
registerHooks({
  load: (url, context, next) => {
    urls.push(url);
    return next(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env.LOADED_MODULES ?? '/dev/null', urls.join('\n')));
