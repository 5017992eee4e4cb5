/** Objects by a tenant's names that were there before: Kamaji's own operator made them (B51), or they are foreign. */
import { Fault } from "@slipway/base";
import { type Client, type KubeObject, type Resource, refOf } from "@slipway/kube";
import { PROJECT, TENANT_LABEL } from "../../kinds/kamaji/labels.ts";
import type { Manifest } from "./wanted.ts";

/** As which Kamaji's operator writes, by the name of its program. */
const FORMER = new Set(["kamaji", "manager"]);

/** An entry of `managedFields`. */
interface Entry {
  manager?: string;
  operation?: string;
  subresource?: string;
  fieldsV1?: Fields;
}
type Fields = { [field: string]: Fields };

/** Throws `AlreadyExists` for an object that is neither the owner's nor labelled as the tenant's. */
export function refuseForeign(resource: Resource, live: KubeObject, wanted: Manifest): void {
  const { name, labels = {}, ownerReferences = [] } = wanted.metadata;
  const isOwned = live.metadata.ownerReferences?.some(({ uid }) => ownerReferences.some((one) => one.uid === uid));
  const marks = Object.entries({ ...PROJECT, [TENANT_LABEL]: labels[TENANT_LABEL] ?? "" });
  if (isOwned || marks.every(([key, value]) => live.metadata.labels?.[key] === value)) return;
  throw new Fault("AlreadyExists", `${resource.kind}/${name}`, "it is there, and is not this tenant's", {
    remedy: `delete it, have the tenant take it over by the labels ${marks.map((mark) => mark.join("=")).join(" and ")}, or give the tenant another name`,
  });
}

/** Makes fields of a former operator's those of `manager`: the next apply removes what it does not name. Costs no request where there are none. */
export async function takeOver<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  live: T,
  manager: string,
): Promise<void> {
  const value = takenOver((live.metadata.managedFields ?? []) as Entry[], manager);
  if (value === undefined) return;
  const { resourceVersion } = live.metadata;
  const body = [
    { op: "replace" as const, path: "/metadata/managedFields", value },
    { op: "replace" as const, path: "/metadata/resourceVersion", value: resourceVersion },
  ];
  await client.patch(resource, refOf(live), { type: "json", body });
}

/** The entries with those of former operators as one of `manager`'s; undefined: there are none. */
export function takenOver(entries: readonly Entry[], manager: string): Entry[] | undefined {
  const isFormer = (one: Entry): boolean =>
    FORMER.has(one.manager ?? "") && one.operation === "Update" && !one.subresource;
  const isOwn = (one: Entry): boolean => one.manager === manager && one.operation === "Apply" && !one.subresource;
  const former = entries.filter(isFormer);
  const [first] = former;
  if (first === undefined) return undefined;
  const all = [...entries.filter(isOwn), ...former];
  const fieldsV1 = all.reduce<Fields>((union, { fieldsV1 = {} }) => unionOf(union, fieldsV1), {});
  const others = entries.filter((one) => !isFormer(one) && !isOwn(one));
  return [{ ...first, manager, operation: "Apply", fieldsV1 }, ...others];
}

function unionOf(a: Fields, b: Fields): Fields {
  const union = { ...a };
  for (const [field, below] of Object.entries(b)) union[field] = unionOf(union[field] ?? {}, below);
  return union;
}
