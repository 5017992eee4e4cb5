import type { Random } from "../../base/random.ts";
import { converter, needsConversion } from "../../kinds/conversion.ts";
import type { Kind } from "../../kinds/kind.ts";
import { specOf } from "../schema/crd-shape.ts";
import type { Body } from "../served.ts";
import type { Callers } from "../webhook/call.ts";
import { type Convert, inProcess } from "./conversion.ts";
import { byWebhook, type ConversionWebhook } from "./webhook.ts";

/** Converters of kinds whose definitions need no webhook here, by the definition's name (`widgets.example.com`). */
export type Conversions = Readonly<Record<string, Convert>>;

/** The conversions of our own kinds, each given with all its versions. */
export function conversionsOf(kinds: readonly (readonly Kind[])[]): Conversions {
  return Object.fromEntries(
    kinds.filter(needsConversion).map((versions) => {
      const convert = converter(versions);
      const { plural, group } = versions[0]!;
      return [`${plural}.${group}`, inProcess((object, apiVersion) => convert(object, apiVersion) as Body)];
    }),
  );
}

/** The converter of a definition's kind: our own where there is one, else as its strategy says. Undefined: only `apiVersion` changes. */
export function converterOf(
  crd: Body,
  callers: Callers & { random: Random },
  own: Conversions | undefined,
): Convert | undefined {
  const found = own?.[crd.metadata.name];
  if (found !== undefined) return found;
  const { conversion } = specOf(crd);
  if (conversion?.strategy !== "Webhook" || conversion.webhook === undefined) return undefined;
  return byWebhook(callers, conversion.webhook as ConversionWebhook);
}
