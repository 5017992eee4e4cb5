import type { Body, ServedResource } from "../model/served.ts";

/** Makes the views of stored objects; undefined when that needs no waiting. */
export type Ready = (resource: ServedResource, stored: readonly (Body | undefined)[]) => Promise<void> | undefined;

/**
 * Calls `fn`s in the order in which they come, each when the stored objects it looks at can be viewed: at once, unless the kind has a
 * converter. After a failure, which is reported once, nothing is called any more.
 */
export function inTurn(
  ready: Ready,
  resource: ServedResource,
  onFailure: (error: unknown) => void,
): (stored: readonly (Body | undefined)[], fn: () => void) => void {
  let last = Promise.resolve(true);
  const after = async (turn: Promise<boolean>, stored: readonly (Body | undefined)[], fn: () => void) => {
    if (!(await turn)) return false;
    try {
      await ready(resource, stored);
      fn();
      return true;
    } catch (error) {
      onFailure(error);
      return false;
    }
  };
  return (stored, fn) => {
    if (resource.conversion === undefined) fn();
    else last = after(last, stored, fn);
  };
}
