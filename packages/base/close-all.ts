/** Ends parts in the reverse order of their start, every one of them also when another can't be ended well; rejects with the first such error then. */
export async function closeAll(parts: readonly (() => unknown)[]): Promise<void> {
  let failed: { error: unknown } | undefined;
  for (const end of [...parts].reverse()) {
    try {
      await end();
    } catch (error) {
      failed ??= { error };
    }
  }
  if (failed !== undefined) throw failed.error;
}
