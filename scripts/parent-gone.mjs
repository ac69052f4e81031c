const LOOK_MS = 500;

/**
 * Calls back once when the process that started this one is gone. An npm that is killed outright tells nobody: what it
 * runs would go on, and hold its port.
 * @param {() => void} callback
 */
export function onParentGone(callback) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, LOOK_MS);
  return timer.unref();
}
