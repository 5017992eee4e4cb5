const running = new Set<Promise<unknown>>();

/**
 * Resolves or rejects as `work`, which goes on outside of the event loop: a key that a thread makes, a signature, a module that is loaded. Such
 * work sets no timer and can take seconds on a busy machine, so virtual time waits until it ends.
 */
export function offLoop<T>(work: Promise<T>): Promise<T> {
  running.add(work);
  const end = (): void => void running.delete(work);
  work.then(end, end);
  return work;
}

/** Undefined when nothing of it goes on, else a promise of the first end; it never rejects. */
export function offLoopWork(): Promise<void> | undefined {
  if (running.size === 0) return undefined;
  return Promise.race(running).then(
    () => {},
    () => {},
  );
}
