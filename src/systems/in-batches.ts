/** Does something with each item, so many at a time, and gives what came out. Rejects with the first failure, when its batch is over. */
export async function inBatches<T, R>(items: readonly T[], size: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += size) {
    const batch = await Promise.allSettled(items.slice(at, at + size).map(work));
    const failed = batch.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    results.push(...batch.map((result) => (result as PromiseFulfilledResult<R>).value));
  }
  return results;
}
