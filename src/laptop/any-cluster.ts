import type { JoinedCluster } from "../systems/counterpart.ts";

/** Several clusters as one: a machine joins the first that takes it, else is refused with the reasons of all. Undefined: there is none. */
export function anyCluster(clusters: readonly JoinedCluster[]): JoinedCluster | undefined {
  if (clusters.length < 2) return clusters[0];
  return {
    async join(request) {
      const refusals: string[] = [];
      for (const cluster of clusters) {
        const joined = await cluster.join(request);
        if (joined.is === "joined") return joined;
        refusals.push(joined.reason);
      }
      return { is: "refused", reason: refusals.join("; ") };
    },
    powerLost(machineId) {
      for (const cluster of clusters) cluster.powerLost(machineId);
    },
  };
}
