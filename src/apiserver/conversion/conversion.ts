/**
 * Conversion: how stored objects of one version of a kind become objects of another, and back. `None` changes only `apiVersion`; a webhook
 * or a function of our own (`ApiServerOptions.conversions`) does more.
 *
 * `views.ts` turns what is stored into what a resource shows, `converted.ts` judges what a converter gave back, `webhook.ts` asks one.
 */
import { Fault, isFault } from "../../base/fault.ts";
import type { Body } from "../served.ts";

/**
 * `objects`, each in any version of its kind, in `apiVersion`, as many and in the same order; what each has become is judged afterwards. Gets
 * copies, which it may change. Rejects with, or throws, a `Fault` whose text is the answer's.
 */
export type Convert = (objects: readonly Body[], apiVersion: string) => unknown[] | Promise<unknown[]>;

/** The refusal of a request that needs a conversion which failed: 500, and no reason but the text. */
export function conversionFault(message: string, cause?: unknown): Fault {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 };
  return new Fault("Internal", "conversion", message, { details: status, cause });
}

/** `v1, Kind=Widget` with its group: how messages name what was to be converted. */
export function gvk({ apiVersion, kind }: { apiVersion?: string; kind?: string }): string {
  return `${apiVersion}, Kind=${kind}`;
}

/** A pure function between versions as a converter. What it throws becomes the answer's text. */
export function inProcess(convert: (object: Body, apiVersion: string) => Body): Convert {
  return (objects, apiVersion) =>
    objects.map((object) => {
      try {
        return convert(object, apiVersion);
      } catch (error) {
        if (isFault(error, "Bug")) throw error;
        const why = error instanceof Error ? error.message : String(error);
        throw conversionFault(`conversion of ${gvk(object)} failed: ${why}`, error);
      }
    });
}
