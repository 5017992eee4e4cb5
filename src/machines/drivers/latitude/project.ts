import { Fault } from "@slipway/base";
import type { LatitudeClient } from "./client.ts";
import { isId } from "./order.ts";

/** Finds the account's project by id, slug or name, once; a failure is not kept. */
export function projectFinder(named: string, client: LatitudeClient): (signal?: AbortSignal) => Promise<string> {
  let found: string | undefined = isId(named) ? named : undefined;
  return async (signal) => {
    found ??= await lookUp(named, client, signal);
    return found;
  };
}

async function lookUp(named: string, client: LatitudeClient, signal?: AbortSignal): Promise<string> {
  const bySlug = (await client.projects("slug", named, signal)).filter((one) => one.attributes?.slug === named);
  const byName =
    bySlug.length > 0
      ? []
      : (await client.projects("name", named, signal)).filter((one) => one.attributes?.name === named);
  const all = [...bySlug, ...byName];
  const [first] = all;
  if (first !== undefined && all.length === 1) return first.id;
  const message =
    first === undefined ? "no project of the account has this id, slug or name" : "several projects have this name";
  throw new Fault("MissingInput", `project ${named}`, message, { remedy: "name the project by its id, proj_…" });
}
