import { parseTime } from "@slipway/base";
import { CREW_LABEL } from "@slipway/kube";
import type { Lease } from "@slipway/kube/core";

/** Replicas that share out the systems' work, and who holds which part of it. */
export interface ShardCrew {
  namespace: string;
  crew: string;
  /** As many as Leases show: each has had a holder. */
  shards: number;
  /** How many each replica that lives holds, also 0. By the replica's name. */
  held: Readonly<Record<string, number>>;
  /** Those that nobody holds now: nothing is done in them. */
  free: readonly number[];
}

/** The crews that these Leases show, by their labels and names. `now`: milliseconds since 1970. Pure. */
export function shardCrews(leases: readonly Lease[], now: number): ShardCrew[] {
  const labelled = leases.filter(({ metadata }) => metadata.labels?.[CREW_LABEL] !== undefined);
  const crews = Map.groupBy(labelled, ({ metadata }) => `${metadata.namespace}/${metadata.labels![CREW_LABEL]}`);
  return [...crews.values()].flatMap((own) => {
    const { namespace = "", labels } = own[0]!.metadata;
    const crew = crewOf(namespace, labels![CREW_LABEL]!, own, now);
    return crew.shards > 0 && Object.keys(crew.held).length > 0 ? [crew] : [];
  });
}

function crewOf(namespace: string, crew: string, leases: readonly Lease[], now: number): ShardCrew {
  const holder = (lease: Lease): string => (isOver(lease, now) ? "" : (lease.spec?.holderIdentity ?? ""));
  const replicas = leases.filter(({ metadata: { name } }) => name.startsWith(`${crew}-replica-`));
  const held = new Map(replicas.map((lease) => [holder(lease), 0]));
  held.delete("");
  const shards = new Map(
    leases.flatMap((lease) => {
      const shard = /^-shard-(\d+)$/.exec(lease.metadata.name.slice(crew.length))?.[1];
      return shard === undefined ? [] : [[Number(shard), holder(lease)] as const];
    }),
  );
  for (const name of shards.values()) if (name !== "") held.set(name, (held.get(name) ?? 0) + 1);
  const count = Math.max(-1, ...shards.keys()) + 1;
  const free = Array.from({ length: count }, (_, shard) => shard).filter((shard) => !shards.get(shard));
  return { namespace, crew, shards: count, held: Object.fromEntries([...held].sort()), free };
}

/** Its holder has not renewed it in time. */
function isOver({ spec }: Lease, now: number): boolean {
  const renewed = parseTime(spec?.renewTime);
  return renewed === undefined || now - renewed > (spec?.leaseDurationSeconds ?? 15) * 1000;
}
