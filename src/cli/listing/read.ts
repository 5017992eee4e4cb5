import { asFault, isFault } from "@slipway/base";
import type { Client, KubeObject } from "@slipway/kube";
import { Event } from "@slipway/kube/core";
import { type EventRow, eventRow } from "../../views/event-row.ts";
import { type Overview, overviewOf, type Shown } from "../../views/overview.ts";
import type { ServedKind } from "./kinds.ts";

export interface Selected {
  /** Unset: all namespaces. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
}

/** Kinds with their objects, and one sentence for each that can't be read. */
export interface ReadObjects {
  shown: Shown[];
  problems: string[];
}

/** Lists each kind. One that the user may not list is a problem of its own, not of the others; one that is not served has no objects. Rejects otherwise. */
export async function readObjects(
  client: Client,
  served: readonly ServedKind[],
  { namespace, labelSelector }: Selected = {},
): Promise<ReadObjects> {
  const problems: string[] = [];
  const shown = await Promise.all(
    served.map(async ({ kind, role }): Promise<Shown> => {
      try {
        const { items } = await client.list(kind, {
          ...(namespace !== undefined && kind.namespaced && { namespace }),
          ...(labelSelector !== undefined && { labelSelector }),
          resourceVersion: "0",
        });
        return {
          kind: kind.kind,
          role,
          objects: items.map((item) => ({ ...item, apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind })),
        };
      } catch (error) {
        if (!isFault(error, "Forbidden", "NotFound")) throw error;
        if (isFault(error, "Forbidden")) problems.push(error.advice);
        return { kind: kind.kind, role, objects: [] };
      }
    }),
  );
  return { shown, problems };
}

/** Events as rows, the oldest first. Rejects as the client does. */
export async function readEvents(
  client: Client,
  { namespace, labelSelector, fieldSelector }: Selected & { fieldSelector?: string | undefined } = {},
): Promise<{ rows: EventRow[]; events: Event[] }> {
  const { items } = await client.list(Event, {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  });
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
): Promise<{ overview: Overview; problems: string[] }> {
  const [{ shown, problems }, events] = await Promise.all([
    readObjects(client, served, selected),
    warnings(client, served, selected.namespace),
  ]);
  return { overview: overviewOf(shown, events.rows, now), problems: [...problems, ...events.problems] };
}

/** Warnings about objects of these kinds: a cluster has many others. */
async function warnings(client: Client, served: readonly ServedKind[], namespace: string | undefined) {
  const kinds = new Set(served.map(({ kind }) => kind.kind));
  try {
    const { rows } = await readEvents(client, { namespace, fieldSelector: "type=Warning" });
    return { rows: rows.filter(({ kind }) => kinds.has(kind)), problems: [] };
  } catch (error) {
    if (!isFault(error, "Forbidden")) throw error;
    return { rows: [], problems: [asFault(error, "events").advice] };
  }
}

/** All objects of what was read. */
export const objectsIn = ({ shown }: ReadObjects): KubeObject[] => shown.flatMap(({ objects }) => objects);
