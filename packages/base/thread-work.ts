const running = new Set<Promise<unknown>>();

/**
 * Resolves or rejects as `work`, which the process does on threads of its own: a key that is made, a signature. No timer tells of such
 * work, and a busy machine takes seconds for it: virtual time waits until it has ended.
 */
export function onThread<T>(work: Promise<T>): Promise<T> {
  running.add(work);
  const end = (): void => void running.delete(work);
  work.then(end, end);
  return work;
}

/** Undefined when no thread works, else a promise of the first end; it never rejects. */
export function threadWork(): Promise<void> | undefined {
  if (running.size === 0) return undefined;
  return Promise.race(running).then(
    () => {},
    () => {},
  );
}
