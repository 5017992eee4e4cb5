import type { Clock, Log } from "@slipway/base";
import type { Resource } from "./object.ts";

export interface MissingKindsPorts {
  clock: Pick<Clock, "now">;
  log: Log;
  /** How the definition is installed; undefined: not known. */
  remedy?: ((resource: Resource) => string | undefined) | undefined;
}

/** Keeps which kinds the API does not serve, since when. Logs each once when it is found missing, and once when it is there. */
export class MissingKinds {
  readonly #ports: MissingKindsPorts;
  readonly #since = new Map<string, number>();

  constructor(ports: MissingKindsPorts) {
    this.#ports = ports;
  }

  /** Notes what the API answered. `needing`: the systems that wait for the kind. */
  note(resource: Resource, missing: boolean, needing: readonly string[]): void {
    const kind = kindName(resource);
    if (missing === this.#since.has(kind)) return;
    const { clock, log, remedy } = this.#ports;
    if (!missing) {
      this.#since.delete(kind);
      log.info({ kind, systems: needing }, "a kind that was missing is served now");
      return;
    }
    this.#since.set(kind, clock.now());
    const fields = {
      kind,
      version: resource.version,
      systems: needing,
      remedy: remedy?.(resource) ?? "install its CustomResourceDefinition; a restart is not needed",
    };
    if (needing.length > 0) log.warn(fields, "the API does not serve a kind; the systems that need it wait for it");
    else log.info(fields, "the API does not serve an optional kind; the systems work without it");
  }

  since(resource: Resource): number | undefined {
    return this.#since.get(kindName(resource));
  }
}

/** `instancepools.equinix.harvesterhci.io`; the plural alone in the core group. */
export function kindName({ group, plural }: Resource): string {
  return group === "" ? plural : `${plural}.${group}`;
}
