import { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";

const BASE = { namespace: "shop", generation: 3, resourceVersion: "1" };

/** A PacketMachine as its API has it, with nothing special about it but what is given. For tests. */
export function aPacketMachine(
  spec: Partial<PacketMachine["spec"]> = {},
  status?: PacketMachine["status"],
  metadata: Partial<PacketMachine["metadata"]> = {},
): PacketMachine {
  return {
    apiVersion: `${PacketMachine.group}/${PacketMachine.version}`,
    kind: PacketMachine.kind,
    metadata: { ...BASE, name: "worker-1", uid: "uid-1", ...metadata },
    spec: { os: "ubuntu_24_04", machineType: "c3.small.x86", ...spec },
    ...(status !== undefined && { status }),
  } as PacketMachine;
}

/** A PacketCluster as its API has it, with nothing special about it but what is given. For tests. */
export function aPacketCluster(
  spec: Partial<PacketCluster["spec"]> = {},
  status?: PacketCluster["status"],
  metadata: Partial<PacketCluster["metadata"]> = {},
): PacketCluster {
  return {
    apiVersion: `${PacketCluster.group}/${PacketCluster.version}`,
    kind: PacketCluster.kind,
    metadata: { ...BASE, name: "cluster-1", uid: "uid-c", ...metadata },
    spec: { projectID: "project-1", vipManager: "CPEM", ...spec },
    ...(status !== undefined && { status }),
  } as PacketCluster;
}
