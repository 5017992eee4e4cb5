import { Fault } from "../../base/fault.ts";
import type { AllocateClusterIp } from "../builtin/service.ts";
import type { Store } from "../storage/store.ts";

const SIZE = 65_536;

/** Cluster IPs from 10.96.0.0/16: the one asked for when it is free, else the next free one. The first ten are left to the cluster itself. */
export function clusterIps(store: Store): AllocateClusterIp {
  let next = 10;
  const used = (): Set<unknown> =>
    new Set(
      [...store.collection("/services").range("", "")].map(
        ([, s]) => (s.spec as { clusterIP?: string } | undefined)?.clusterIP,
      ),
    );
  return (wanted) => {
    const taken = used();
    if (wanted !== undefined && wanted !== "") {
      if (!taken.has(wanted)) return wanted;
      throw new Fault(
        "Invalid",
        "spec.clusterIP",
        `Invalid value: ${JSON.stringify(wanted)}: provided IP is already allocated`,
      );
    }
    for (let tried = 0; tried < SIZE; tried++) {
      const address = `10.96.${next >> 8}.${next & 255}`;
      next = next + 1 < SIZE - 1 ? next + 1 : 10;
      if (!taken.has(address)) return address;
    }
    throw new Fault("Internal", "spec.clusterIP", "no address is left in 10.96.0.0/16");
  };
}
