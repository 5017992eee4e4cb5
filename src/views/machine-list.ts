import type { KubeObject } from "@slipway/kube";
import { at } from "../kinds/cluster-api/field-path.ts";
import { followedKindOf } from "./followed-kinds.ts";
import { type Location, locationOf } from "./location.ts";
import { type Row, rowOf } from "./row.ts";

/** A machine of any driver, or a host of the inventory, in the list of all. */
export interface MachineRow extends Row {
  uid: string;
  /** `plural.group`; empty: a kind that is not followed. */
  plural: string;
  /** Who serves it: a provider's name, or the protocol of its management controller. */
  provider: string;
  location: Location;
  /** undefined: nobody knows. */
  poweredOn?: boolean | undefined;
  /** All that a search looks at, lower-case. */
  text: string;
}

/** Pure. */
export function machineRow(object: KubeObject): MachineRow {
  const row = rowOf(object);
  const location = locationOf(object);
  const provider = providerOf(object);
  const words = [row.kind, row.namespace, row.name, row.state, row.owner, row.address, row.machine, row.node];
  const more = [provider, location.site, location.rack, row.waitsFor, row.failure?.reason, row.failure?.message];
  const found = [at(object, "spec.bootMACAddress"), at(object, "status.hardware.systemVendor.serialNumber")];
  const poweredOn = at(object, "status.poweredOn");
  return {
    ...row,
    ...{ uid: object.metadata.uid, plural: followedKindOf(object)?.name ?? "", provider, location },
    poweredOn: typeof poweredOn === "boolean" ? poweredOn : undefined,
    text: [...words, ...more, ...found]
      .filter((word) => typeof word === "string")
      .join("\n")
      .toLowerCase(),
  };
}

function providerOf(object: KubeObject): string {
  const named = at(object, "status.provider") ?? at(object, "spec.providerRef.name");
  if (typeof named === "string" && named !== "") return named;
  const address = at(object, "spec.bmc.address");
  if (typeof address === "string") return /^[a-z0-9+-]+/i.exec(address)?.[0] ?? "";
  const id = at(object, "spec.providerID");
  return typeof id === "string" ? (/^[a-z0-9-]+(?=:\/\/)/i.exec(id)?.[0] ?? "") : "";
}

const FIELDS: Readonly<Record<string, (row: MachineRow) => string | undefined>> = {
  kind: ({ kind }) => kind,
  ns: ({ namespace }) => namespace,
  namespace: ({ namespace }) => namespace,
  name: ({ name }) => name,
  state: ({ state }) => state,
  owner: ({ owner }) => owner,
  provider: ({ provider }) => provider,
  rack: ({ location }) => location.rack,
  site: ({ location }) => location.site,
  node: ({ node }) => node,
};

const IS: Readonly<Record<string, (row: MachineRow) => boolean>> = {
  ready: ({ ready }) => ready,
  waiting: ({ waitsFor }) => waitsFor !== undefined,
  failed: ({ failure }) => failure !== undefined,
  on: ({ poweredOn }) => poweredOn === true,
  off: ({ poweredOn }) => poweredOn === false,
  free: ({ owner, kind }) => owner === undefined && kind === "BareMetalHost",
};

/**
 * The rows that a search asks for: words that all must be in a row, `state:ready`, `rack:r1` and the like for one column, `is:waiting`,
 * `is:failed`, `is:ready`, `is:on`, `is:off`, `is:free`; each is turned round by a `-` before it. Pure.
 */
export function searched<T extends MachineRow>(rows: readonly T[], query: string): readonly T[] {
  const tests = query.toLowerCase().split(/\s+/).filter(Boolean).map(testOf);
  return tests.length === 0 ? rows : rows.filter((row) => tests.every((test) => test(row)));
}

function testOf(word: string): (row: MachineRow) => boolean {
  if (word.length > 1 && word.startsWith("-")) {
    const test = testOf(word.slice(1));
    return (row) => !test(row);
  }
  const [, field = "", value = ""] = /^([a-z]+):(.*)$/.exec(word) ?? [];
  if (field === "is" && Object.hasOwn(IS, value)) return IS[value]!;
  if (Object.hasOwn(FIELDS, field)) return (row) => (FIELDS[field]!(row) ?? "").toLowerCase().includes(value);
  return ({ text }) => text.includes(word);
}

/** Columns by which the list of machines can be sorted. */
export const COLUMNS = {
  name: ({ name }: MachineRow) => name,
  kind: ({ kind }: MachineRow) => kind,
  namespace: ({ namespace }: MachineRow) => namespace ?? "",
  state: ({ state }: MachineRow) => state,
  owner: ({ owner }: MachineRow) => owner ?? "",
  provider: ({ provider }: MachineRow) => provider,
  rack: ({ location: { site = "", rack = "" } }: MachineRow) => `${site} ${rack}`.trim(),
  address: ({ address, machine }: MachineRow) => address ?? machine ?? "",
  node: ({ node }: MachineRow) => node ?? "",
  waits: ({ waitsSince, waitsFor }: MachineRow) =>
    waitsFor === undefined ? Number.POSITIVE_INFINITY : (waitsSince ?? 0),
  age: ({ created }: MachineRow) => created ?? 0,
} as const;
export type Column = keyof typeof COLUMNS;

const collator = new Intl.Collator("en", { numeric: true });

/** Rows by a column, those with equal values by name. Pure. */
export function sortedBy<T extends MachineRow>(rows: readonly T[], column: Column, descending = false): T[] {
  const value = COLUMNS[column];
  const turn = descending ? -1 : 1;
  return rows.toSorted((a, b) => turn * compared(value(a), value(b)) || collator.compare(a.name, b.name));
}

function compared(a: string | number, b: string | number): number {
  if (typeof a === "string") return collator.compare(a, String(b));
  return a === b ? 0 : a - Number(b);
}
