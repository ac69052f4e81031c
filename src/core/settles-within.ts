/** Whether `work` resolves or rejects within `ms`. */
export function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), Math.max(0, ms));
    const ended = () => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(ended, ended);
  });
}
