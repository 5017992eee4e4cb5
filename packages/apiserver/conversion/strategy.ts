import type { Random } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { Body, Convert } from "../model/served.ts";
import { specOf } from "../schema/crd-shape.ts";
import type { Callers } from "../webhook/call.ts";
import { inProcess } from "./conversion.ts";
import { byWebhook, type ConversionWebhook } from "./webhook.ts";

/** Converters that take the place of webhooks, by the definition's name (`widgets.example.com`). Each returns the object in that version. */
export type Conversions = Readonly<Record<string, (object: Body, apiVersion: string) => KubeObject>>;

/** The converter of a definition's kind: our own where there is one, else as its strategy says. Undefined: only `apiVersion` changes. */
export function converterOf(
  crd: Body,
  callers: Callers & { random: Random },
  own: Conversions | undefined,
): Convert | undefined {
  const found = own?.[crd.metadata.name];
  if (found !== undefined) return inProcess((object, apiVersion) => found(object, apiVersion) as Body);
  const { conversion } = specOf(crd);
  if (conversion?.strategy !== "Webhook" || conversion.webhook === undefined) return undefined;
  return byWebhook(callers, conversion.webhook as ConversionWebhook);
}
