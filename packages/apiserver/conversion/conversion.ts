/**
 * Conversion: how stored objects of one version of a kind become objects of another, and back. `None` changes only `apiVersion`; a webhook
 * or a function of our own (`ApiServerOptions.conversions`) does more.
 *
 * `views.ts` turns what is stored into what a resource shows, `converted.ts` judges what a converter gave back, `webhook.ts` asks one.
 */
import { Fault, isFault } from "@slipway/base";
import type { Body, Convert } from "../model/served.ts";

const ON = "conversion";

/** The refusal of a request that needs a conversion which failed: 500, and no reason but the text. */
export function conversionFault(message: string, cause?: unknown): Fault {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 };
  return new Fault("Internal", ON, message, { details: status, cause });
}

/** Whether a conversion has failed, for one of its own reasons. */
export function isConversionFault(error: unknown): boolean {
  return isFault(error, "Internal") && error.on === ON;
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
