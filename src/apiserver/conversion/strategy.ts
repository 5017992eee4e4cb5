import type { Random } from "../../base/random.ts";
import { specOf } from "../schema/crd-shape.ts";
import type { Body } from "../served.ts";
import type { Callers } from "../webhook/call.ts";
import type { Convert } from "./conversion.ts";
import { byWebhook, type ConversionWebhook } from "./webhook.ts";

/** Converters of kinds whose definitions need no webhook here, by the definition's name (`widgets.example.com`). */
export type Conversions = Readonly<Record<string, Convert>>;

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
