import { type Clock, rfc3339 } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { Node, NodeCondition } from "@slipway/kube/core";
import { CapiMachine } from "./capi-machine.ts";
import { FLEET_LOCAL, MACHINE_ANNOTATION } from "./node-object.ts";

const REASONS: { [status in NodeCondition["status"]]: string } = {
  True: "NodeReady",
  False: "NodeNotReady",
  Unknown: "NodeUnknown",
};

export interface MachineStatuses {
  changed(node: Node): void;
  gone(node: Node): void;
}

/** Has the status of each Machine say of its Node what Cluster API's does: that it runs, and whether it is ready. */
export function machineStatuses({ client, clock }: { client: Client; clock: Clock }): MachineStatuses {
  const shown = new Map<string, string>();
  const machineOf = ({ metadata }: Node): string | undefined => metadata.annotations?.[MACHINE_ANNOTATION];

  async function show(name: string, node: string, status: NodeCondition["status"]): Promise<void> {
    const ref = { namespace: FLEET_LOCAL, name };
    const { generation } = (await client.get(CapiMachine, ref)).metadata;
    const time = rfc3339(clock.now());
    const ready = { type: "Ready", status, reason: REASONS[status], lastTransitionTime: time };
    const body = {
      status: {
        ...{ phase: "Running", observedGeneration: generation, conditions: [ready] },
        // What the next version of the kind has as its conditions.
        v1beta2: { conditions: [{ ...ready, message: "" }] },
        nodeRef: { apiVersion: "v1", kind: "Node", name: node },
      },
    };
    await client.patch(CapiMachine, ref, { type: "merge", body }, { subresource: "status" });
  }

  return {
    changed(node) {
      const [machine, ready] = [machineOf(node), node.status?.conditions?.find(({ type }) => type === "Ready")];
      if (machine === undefined || ready === undefined || shown.get(machine) === ready.status) return;
      shown.set(machine, ready.status);
      // The next change of the Node tries again.
      show(machine, node.metadata.name, ready.status).catch(() => shown.delete(machine));
    },
    gone(node) {
      const machine = machineOf(node);
      if (machine !== undefined) shown.delete(machine);
    },
  };
}
