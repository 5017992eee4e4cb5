import { type Clock, rfc3339, type Timer } from "@slipway/base";
import { type Client, keyOf, refOf } from "@slipway/kube";
import { Pod } from "@slipway/kube/core";

/** The part of a kubelet that looks after pods: those bound to a running node run, those being deleted end and go. */
export interface PodKeeper {
  changed(pod: Pod): void;
  gone(pod: Pod): void;
  /** A node's kubelet is back: its pods are looked at again. */
  resume(node: string): void;
  /** The pods of a Node that is gone for good are collected, as the control plane's garbage collector does. */
  collect(node: string): void;
  close(): void;
}

/** A keeper for all nodes of a simulated cluster. Writes through the client alone, and repeats a lost write at the next event. */
export function podKeeper(options: {
  client: Client;
  clock: Clock;
  /** How long a pod's containers take to stop; never longer than its grace period. */
  stopMs: number;
  runs(node: string): boolean;
  addressOf(node: string): string | undefined;
}): PodKeeper {
  const { client, clock, runs } = options;
  const byNode = new Map<string, Map<string, Pod>>();
  const stopping = new Map<string, Timer>();

  const remove = (pod: Pod): void => {
    client.delete(Pod, refOf(pod), { uid: pod.metadata.uid, gracePeriodSeconds: 0 }).catch(() => {
      // The next event or list brings the pod up again.
    });
  };
  const look = (node: string, pod: Pod): void => {
    if (!runs(node)) return;
    const key = keyOf(refOf(pod));
    const phase = pod.status?.phase;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (stopping.has(key)) return;
      const grace = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000;
      const end = (): void => {
        stopping.delete(key);
        // The power may have gone while the containers stopped.
        if (runs(node)) remove(pod);
      };
      stopping.set(key, clock.after(Math.min(grace, options.stopMs), end));
    } else if (phase === undefined || phase === "Pending") {
      const status = runningStatus(pod, rfc3339(clock.now()), options.addressOf(node));
      client.patch(Pod, refOf(pod), { type: "merge", body: { status } }, { subresource: "status" }).catch(() => {});
    }
  };

  return {
    changed(pod) {
      const node = pod.spec?.nodeName;
      if (node === undefined || node === "") return;
      const pods = byNode.get(node) ?? new Map<string, Pod>();
      byNode.set(node, pods);
      pods.set(keyOf(refOf(pod)), pod);
      look(node, pod);
    },
    gone(pod) {
      const key = keyOf(refOf(pod));
      const node = pod.spec?.nodeName ?? "";
      byNode.get(node)?.delete(key);
      if (byNode.get(node)?.size === 0) byNode.delete(node);
      stopping.get(key)?.cancel();
      stopping.delete(key);
    },
    resume(node) {
      for (const pod of byNode.get(node)?.values() ?? []) look(node, pod);
    },
    collect(node) {
      for (const pod of byNode.get(node)?.values() ?? []) remove(pod);
    },
    close() {
      for (const timer of stopping.values()) timer.cancel();
      stopping.clear();
    },
  };
}

function runningStatus(pod: Pod, at: string, hostIP: string | undefined): object {
  const condition = (type: string): object => ({ type, status: "True", lastTransitionTime: at });
  return {
    phase: "Running",
    startTime: at,
    ...(hostIP === undefined ? {} : { hostIP }),
    conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(condition),
    containerStatuses: (pod.spec?.containers ?? []).map((c) => ({
      name: c.name,
      image: c.image ?? "",
      imageID: "",
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    })),
  };
}
