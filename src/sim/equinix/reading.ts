/** Values of bodies as older and newer clients send them, and what paths name. */
import type { HttpAnswer } from "@slipway/base";
import type { SimDevice } from "./device.ts";
import { notFound } from "./refused.ts";
import type { Asked } from "./router.ts";

export const NO_CONTENT: HttpAnswer = { status: 204, headers: {}, body: "" };
export const ACCEPTED: HttpAnswer = { status: 202, headers: {}, body: "" };

/** The device that the path names. */
export function deviceIn({ cloud, path }: Asked): SimDevice {
  const device = cloud.devices.get(path[1]!);
  if (device === undefined) throw notFound();
  return device;
}

/** A text that says something; undefined for an empty one, as older clients send for what is not set. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A list of texts; empty for what is none. */
export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => one !== null).map(String) : [];
}

/** Custom data: an object, or the JSON text of one as older clients send it. Any other text is nothing: clients could not read it back. */
export function metadataObject(value: unknown): object {
  const parsed = typeof value === "string" ? parsedOrUndefined(value) : value;
  return typeof parsed === "object" && parsed !== null ? parsed : {};
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
