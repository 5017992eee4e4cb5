/** What a kubelet says of Pods. Pure. */
import { createHash } from "node:crypto";
import { rfc3339 } from "@slipway/base";
import type { Pod } from "@slipway/kube/core";

/** Where network plugins leave their configuration (CNI; containerd's default). */
const CNI = "/etc/cni/net.d";

/** Whether a Pod brings the node's network: it may write there. */
export function writesNetworks({ spec }: Pod): boolean {
  const volumes = (spec?.volumes ?? []).filter(
    ({ hostPath }) => (hostPath as { path?: string } | undefined)?.path?.replace(/\/$/, "") === CNI,
  );
  const mounts = (spec?.containers ?? []).flatMap(
    ({ volumeMounts = [] }) => volumeMounts as { name: string; readOnly?: boolean }[],
  );
  return volumes.some(({ name }) => mounts.some((mount) => mount.name === name && mount.readOnly !== true));
}

/** The status of a Pod whose containers all run. `now`: ms since 1970. */
export function runningStatus({ metadata, spec, status }: Pod, now: number): NonNullable<Pod["status"]> {
  const time = rfc3339(now);
  const conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
    ...{ type, status: "True", lastTransitionTime: time },
  }));
  const [a, b] = createHash("sha256").update(metadata.uid).digest();
  return {
    ...status,
    phase: "Running",
    startTime: time,
    ...(spec?.hostNetwork !== true && { podIP: `10.244.${a}.${b}`, podIPs: [{ ip: `10.244.${a}.${b}` }] }),
    conditions,
    containerStatuses: (spec?.containers ?? []).map(({ name, image = "" }) => ({
      ...{ name, image, imageID: "", ready: true, started: true, restartCount: 0 },
      state: { running: { startedAt: time } },
    })),
  };
}
