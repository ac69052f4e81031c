/** Ends this process in order when the npm that started it is gone. Preloaded with `node --import`. */
import { isMainThread } from 'node:worker_threads';
import { onParentGone } from './parent-gone.mjs';

if (isMainThread) onParentGone(() => process.kill(process.pid, 'SIGTERM'));
