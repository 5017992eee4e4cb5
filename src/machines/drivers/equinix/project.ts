import { Fault } from "@slipway/base";
import type { MetalClient } from "./client.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The project's id: as given, or asked for once when the account names the project. A failed question is asked again. */
export function projectFinder(nameOrId: string, client: MetalClient): (signal?: AbortSignal) => Promise<string> {
  let id = UUID.test(nameOrId) ? nameOrId : undefined;
  return async (signal) => {
    if (id !== undefined) return id;
    const ids = await client.projectsNamed(nameOrId, signal);
    if (ids.length !== 1) {
      const message = ids.length === 0 ? "the key opens no project of this name" : "several projects bear this name";
      throw new Fault("MissingInput", `project ${nameOrId}`, message, { remedy: "give the project's id instead" });
    }
    id = ids[0]!;
    return id;
  };
}
