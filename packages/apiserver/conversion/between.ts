import type { Body, ServedResource } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { inVersion } from "./views.ts";

/** An object of one resource as another resource over the same collection shows it. */
export async function convertBetween(object: Body, from: ServedResource, to: ServedResource): Promise<Body> {
  if (!from.builtIn) return await inVersion(to, object);
  const stored = from.toStorage?.(object) ?? object;
  return to.fromStorage?.(stored) ?? { ...stored, apiVersion: apiVersionOf(to) };
}
