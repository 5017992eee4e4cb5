import { asFault, isFault } from "@slipway/base";
import { type Client, CREW_LABEL, type KubeObject } from "@slipway/kube";
import { Event, Lease } from "@slipway/kube/core";
import { type EventRow, eventRow } from "../../views/event-row.ts";
import { type Overview, overviewOf, type Shown } from "../../views/overview.ts";
import { shardCrews } from "../../views/shards.ts";
import type { ServedKind } from "./kinds.ts";
import { Refusals } from "./refusals.ts";
import { type Selected, selectionOf } from "./selected.ts";

/** The Leases of operators that share their work out. */
export const CREW_LEASES = { labelSelector: CREW_LABEL };

/** Kinds with their objects, and one sentence for each that can't be read. */
export interface ReadObjects {
  shown: Shown[];
  problems: string[];
}

/** Lists each kind. What refuses one is a problem of its own, as `Refusals` says; one that is not served has no objects. Rejects otherwise. */
export async function readObjects(
  client: Client,
  served: readonly ServedKind[],
  selected: Selected = {},
): Promise<ReadObjects> {
  const refusals = new Refusals();
  const shown = await Promise.all(
    served.map(async ({ kind, role }): Promise<Shown> => {
      const list = () => client.list(kind, { ...selectionOf(kind, selected), resourceVersion: "0" });
      const { items = [] } = (await refusals.ask(selected, list)).value ?? {};
      const apiVersion = `${kind.group}/${kind.version}`;
      return { kind: kind.kind, role, objects: items.map((item) => ({ ...item, apiVersion, kind: kind.kind })) };
    }),
  );
  refusals.check();
  return { shown, problems: refusals.problems };
}

/** Events as rows, the oldest first. Rejects as the client does. */
export async function readEvents(
  client: Client,
  selected: Selected = {},
): Promise<{ rows: EventRow[]; events: Event[] }> {
  const { items } = await client.list(Event, selectionOf(Event, selected));
  const last = (event: Event): number => eventRow(event).last ?? 0;
  const events = items.toSorted((a, b) => last(a) - last(b));
  return { events, rows: events.map(eventRow) };
}

/** One look at everything. Events that can't be read are a problem, too. */
export async function readOverview(
  client: Client,
  served: readonly ServedKind[],
  selected: Selected,
  now: number,
): Promise<{ shown: Shown[]; overview: Overview; problems: string[] }> {
  const [{ shown, problems }, events, leases] = await Promise.all([
    readObjects(client, served, selected),
    warnings(client, selected.namespace),
    crewLeases(client),
  ]);
  const overview = overviewOf(shown, eventsAbout(shown, events.rows, selected), now);
  const all = [...problems, ...events.problems, ...leases.problems];
  return { shown, overview: withShards(overview, leases.leases, now), problems: all };
}

/** Events about objects of these kinds: a cluster has many others. Where objects are selected, about those alone. Pure. */
export function eventsAbout(
  shown: readonly Shown[],
  rows: readonly EventRow[],
  { labelSelector, fieldSelector }: Selected,
): EventRow[] {
  const kinds = new Set(shown.map(({ kind }) => kind));
  const ofKinds = rows.filter(({ kind }) => kinds.has(kind));
  if (labelSelector === undefined && fieldSelector === undefined) return ofKinds;
  const place = (kind: string, namespace = "", name: string): string => `${kind} ${namespace}/${name}`;
  const places = new Set(
    shown.flatMap(({ kind, objects }) => objects.map(({ metadata }) => place(kind, metadata.namespace, metadata.name))),
  );
  return ofKinds.filter(({ kind, namespace, name }) => places.has(place(kind, namespace, name)));
}

/** The overview with the shards that Leases show, where there are any. Pure. */
export function withShards(overview: Overview, leases: readonly Lease[], now: number): Overview {
  const shards = shardCrews(leases, now);
  return shards.length === 0 ? overview : { ...overview, shards };
}

async function crewLeases(client: Client): Promise<{ leases: Lease[]; problems: string[] }> {
  const refusals = new Refusals();
  const { value } = await refusals.ask({}, () => client.list(Lease, CREW_LEASES));
  return { leases: value?.items ?? [], problems: refusals.problems };
}

async function warnings(client: Client, namespace: string | undefined) {
  try {
    const { rows } = await readEvents(client, { namespace, fieldSelector: "type=Warning" });
    return { rows, problems: [] };
  } catch (error) {
    if (!isFault(error, "Forbidden")) throw error;
    return { rows: [], problems: [asFault(error, "events").advice] };
  }
}

/** All objects of what was read. */
export const objectsIn = ({ shown }: ReadObjects): KubeObject[] => shown.flatMap(({ objects }) => objects);
