import { Fault } from "@slipway/base";
import type { Resource } from "./object.ts";
import type { Transport } from "./transport.ts";

interface ResourceList {
  resources: { name: string; kind: string; namespaced: boolean }[];
}

/**
 * Finds the resources of kinds by the API's discovery documents (`/api/v1`, `/apis/GROUP/VERSION`), each of which is asked for until it is
 * answered. A kind that is not served is `NotFound`.
 */
export class Discovery {
  readonly #transport: Transport;
  readonly #asked = new Map<string, Promise<ResourceList["resources"]>>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The resource of a manifest's `apiVersion` and `kind`. */
  async resourceOf(apiVersion: string, kind: string): Promise<Resource> {
    let asked = this.#asked.get(apiVersion);
    if (asked === undefined) {
      asked = this.#ask(apiVersion);
      this.#asked.set(apiVersion, asked);
      // A failure is not remembered: the next question asks again.
      asked.catch(() => this.#asked.delete(apiVersion));
    }
    // Subresources stand in the same list.
    const found = (await asked).find((resource) => resource.kind === kind && !resource.name.includes("/"));
    if (found === undefined)
      throw new Fault("NotFound", `${apiVersion} ${kind}`, "the API serves no such kind", {
        remedy: "check its apiVersion and kind, or install its CustomResourceDefinition first",
      });
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    return { group: group!, version: version!, kind, plural: found.name, namespaced: found.namespaced };
  }

  async #ask(apiVersion: string): Promise<ResourceList["resources"]> {
    const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { status, body } = await this.#transport.request({ method: "GET", path });
    if (status === 404) return [];
    if (status !== 200) throw new Fault("Unavailable", path, `the API answered ${status}`);
    return (body as ResourceList).resources;
  }
}
