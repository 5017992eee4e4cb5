import { type Passes, passesInTurns, type Sized } from "../json/turns.ts";
import type { Body, ServedResource } from "../model/served.ts";
import type { InVersion } from "../patch/versions.ts";
import { inVersion } from "./views.ts";

/** Thrown where a conversion has to be waited for. */
class NotYet extends Error {}

/**
 * Runs pure work that looks at objects in other versions of their kind; again, when one of these conversions had to be waited for.
 * Kinds with one version are spared the conversion. Others have their turn between the passes of a long call.
 */
export async function withVersions<T>(
  call: Sized & { resource: ServedResource },
  work: (inVersion: InVersion | undefined) => Passes<T>,
): Promise<T> {
  const { versions, schema } = call.resource;
  const run = (look: InVersion | undefined): T | Promise<T> => passesInTurns(call, work(look));
  if (versions === undefined) return await run(undefined);
  if (versions.size < 2)
    return await run((object, apiVersion) => (versions.has(apiVersion) ? { object, schema } : undefined));
  const known = new Map<string, Body>();
  for (;;) {
    let pending: Promise<unknown> | undefined;
    const look: InVersion = (object, apiVersion) => {
      const to = versions.get(apiVersion);
      if (to === undefined) return undefined;
      const key = `${apiVersion} ${JSON.stringify(object)}`;
      const made = known.get(key) ?? inVersion(to, object);
      if (made instanceof Promise) {
        pending = made.then((body) => known.set(key, body));
        throw new NotYet();
      }
      return { object: made, schema: to.schema };
    };
    try {
      return await run(look);
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
    }
    await pending;
  }
}
