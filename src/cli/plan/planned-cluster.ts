import { Fault, isFault } from "@slipway/base";
import type { Client, KubeObject, Ref, Resource } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { contractKindOf, definitionName } from "../../cluster-api/contract.ts";
import { ALL_KINDS } from "../../operator/kinds.ts";
import type { PlannedCluster } from "../../systems/planning.ts";

/** The cluster with the planned objects in the place of those that it has. */
export class ClusterAsPlanned implements PlannedCluster {
  readonly #client: Pick<Client, "find">;
  readonly #objects = new Map<string, KubeObject>();

  constructor(client: Pick<Client, "find">) {
    this.#client = client;
  }

  add(object: KubeObject): void {
    const [group = ""] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : [""];
    this.#objects.set(keyOf({ group, kind: object.kind }, object.metadata), storedForm(object));
  }

  async find<T extends KubeObject>(resource: Resource<T>, ref: Ref): Promise<T | undefined> {
    const planned = this.#objects.get(keyOf(resource, ref)) as T | undefined;
    if (planned !== undefined) return planned;
    try {
      return await this.#client.find(resource, ref);
    } catch (error) {
      // A kind that is not served has no objects.
      if (isFault(error, "NotFound")) return undefined;
      throw error;
    }
  }

  async referenced(
    reference: { apiGroup: string; kind: string; name: string },
    namespace: string,
  ): Promise<KubeObject | undefined> {
    const ref = { namespace, name: reference.name };
    const planned = this.#objects.get(keyOf({ group: reference.apiGroup, kind: reference.kind }, ref));
    if (planned !== undefined) return planned;
    const definition = await this.find(CustomResourceDefinition, { name: definitionName(reference) });
    if (definition === undefined) return undefined;
    const object = await this.find(contractKindOf(reference, definition.metadata.labels).resource, ref);
    return object && storedForm({ ...object, kind: reference.kind });
  }
}

const keyOf = ({ group, kind }: { group: string; kind: string }, { namespace = "", name }: Ref): string =>
  `${group}/${kind} ${namespace}/${name}`;

/** An object in the version that its kind is stored in, which the systems read; a Secret's texts as data. */
export function storedForm(object: KubeObject): KubeObject {
  const { kind, apiVersion } = object;
  if (kind === "Secret" && apiVersion === "v1") return withData(object);
  const [group, version] = apiVersion.split("/");
  const written = ALL_KINDS.flat().find((one) => one.kind === kind && one.group === group && one.version === version);
  return written?.conversion === undefined ? object : written.conversion.toStored(structuredClone(object));
}

function withData(object: KubeObject): KubeObject {
  const {
    stringData = {},
    data,
    ...rest
  } = object as KubeObject & Record<"stringData" | "data", Record<string, string>>;
  const texts = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]);
  return { ...rest, data: { ...data, ...Object.fromEntries(texts) } } as KubeObject;
}

/** Throws a `Fault` where the systems' plans lead to each other without an end. */
export function boundedDepth(depth: number, on: string): void {
  if (depth > 8) throw new Fault("Bug", on, "objects are made for one another without end");
}
