/** The DaemonSet of the node agent: one for all Vinos, on the nodes that are marked for it. Pure. */

import { AGENT_LABEL } from "../names.ts";
import type { DaemonSet } from "../objects.ts";
import type { Agents } from "../vino-status.ts";
import type { AgentAccount } from "./rights.ts";

export const DAEMON_SET = "slipway-vino-agent";

export interface AgentOf {
  account: AgentAccount;
  image: string;
  /** Runs libvirt beside the agent. Unset: the nodes run it themselves. */
  libvirtImage: string | undefined;
  arguments: readonly string[];
}

const LABELS = { "app.kubernetes.io/name": "slipway", "app.kubernetes.io/component": "vino-agent" };
/** Where the agent keeps what must outlive its Pod. */
export const STATE_FOLDER = "/var/lib/slipway/vino";
const FOLDERS = {
  run: "/var/run/libvirt",
  lib: "/var/lib/libvirt",
  state: STATE_FOLDER,
  dev: "/dev",
  sys: "/sys",
} as const;

/** The DaemonSet. Machines go on while it is replaced: they are libvirt's, not the Pod's. */
export function daemonSet({ account, image, libvirtImage, arguments: args }: AgentOf) {
  const volumeMounts = Object.entries(FOLDERS).map(([name, mountPath]) => ({ name, mountPath }));
  const privileged = { securityContext: { privileged: true, runAsUser: 0 }, volumeMounts };
  const env = Object.entries({ NODE_NAME: "spec.nodeName", NODE_ADDRESS: "status.hostIP" }).map(
    ([name, fieldPath]) => ({ name, valueFrom: { fieldRef: { fieldPath } } }),
  );
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: DAEMON_SET, namespace: account.namespace, labels: LABELS },
    spec: {
      selector: { matchLabels: LABELS },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%" } },
      template: {
        metadata: { labels: LABELS },
        spec: {
          nodeSelector: { [AGENT_LABEL]: "true" },
          serviceAccountName: account.name,
          ...{ hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet", hostPID: true },
          tolerations: [{ operator: "Exists" }],
          priorityClassName: "system-node-critical",
          containers: [
            { name: "agent", image, args: [...args], env, ...privileged },
            ...(libvirtImage === undefined ? [] : [{ name: "libvirt", image: libvirtImage, ...privileged }]),
          ],
          volumes: Object.entries(FOLDERS).map(([name, path]) => ({
            name,
            hostPath: { path, type: name === "dev" || name === "sys" ? "Directory" : "DirectoryOrCreate" },
          })),
        },
      },
    },
  };
}

/** Whether the agents run everywhere. Undefined: there is no DaemonSet. */
export function agentsOf(found: DaemonSet | undefined): Agents | undefined {
  if (found === undefined) return undefined;
  const {
    observedGeneration = 0,
    desiredNumberScheduled = 0,
    updatedNumberScheduled = 0,
    numberReady = 0,
  } = found.status ?? {};
  const isSeen = observedGeneration >= (found.metadata.generation ?? 0);
  const isReady =
    isSeen &&
    desiredNumberScheduled > 0 &&
    numberReady >= desiredNumberScheduled &&
    updatedNumberScheduled >= desiredNumberScheduled;
  return { isReady, message: isReady ? "" : `${numberReady} of ${desiredNumberScheduled} agents are ready` };
}
