/** Where the light core's histories may differ from upstream's, and why. A state that is named here may come, or may be left out. */
import type { Explained } from "./history.ts";

const one = (why: string, state: RegExp | undefined, ...of: readonly string[]): Explained[] =>
  of.map((each) => {
    const [kind, condition] = each.split(" ") as [string, string];
    return { kind, condition, why, ...(state && { state }) };
  });

export const LEDGER: readonly Explained[] = [
  ...one(
    "Upstream writes a last status beside the removal of the finalizer; the light core lets the object go without it.",
    /^True DeletionCompleted$/,
    ...["Cluster Deleting", "Machine Deleting"],
  ),
  ...one(
    "The same: once a set has no Machines, it goes.",
    /^(True NoReplicas|False NotScalingDown)$/,
    ...["MachineSet MachinesReady", "MachineSet MachinesUpToDate", "MachineSet ScalingDown"],
    ...["MachineDeployment MachinesReady", "MachineDeployment MachinesUpToDate", "MachineDeployment ScalingDown"],
    ...["Cluster WorkerMachinesReady", "Cluster WorkerMachinesUpToDate", "Cluster ScalingDown"],
  ),
  ...one(
    "The same: infrastructure and configuration go right before the object that would say so; whether it still does is chance.",
    /^False ObjectDeleted$/,
    ...["Cluster InfrastructureReady", "Cluster ControlPlaneAvailable"],
    ...["Machine InfrastructureReady", "Machine BootstrapConfigReady"],
  ),
  ...one(
    "The light core's first status comes with its first look, upstream's after a write of Paused alone: whether the provider has said something by then is chance.",
    /^False NotReady$/,
    "Machine InfrastructureReady",
  ),
  ...one(
    "The light core has no updates in place (a feature gate of upstream's, off by default).",
    undefined,
    "Machine Updating",
  ),
  ...one(
    "A sum of several objects, of which some have no condition yet: how many looks fall into that moment is chance.",
    /^Unknown (ReadyUnknown|AvailableUnknown|RemediatingUnknown|RollingOutUnknown|ScalingUpUnknown|ScalingDownUnknown)$/,
    ...["Cluster Remediating", "Cluster RollingOut", "Cluster ScalingUp", "Cluster ScalingDown"],
    ...[
      "Cluster Available",
      "Cluster WorkersAvailable",
      "Cluster WorkerMachinesReady",
      "MachineDeployment Remediating",
    ],
    ...["MachineDeployment MachinesReady", "MachineSet MachinesReady", "Machine Ready"],
  ),
  ...one(
    "The tenant goes with the cluster: whether somebody still asks it is chance.",
    /^False ProbeFailed$/,
    "Cluster RemoteConnectionProbe",
  ),
  ...one(
    "Upstream has no count of available Machines before it has seen its sets, and after they are gone; the light core counts none.",
    /^Unknown WaitingForAvailableReplicasSet$/,
    "MachineDeployment Available",
  ),
  ...one(
    "Written by the bootstrap provider: Slipway's says from the beginning what it waits for, upstream's only once it goes to work.",
    /^False (Waiting|NotReady)$/,
    ...["KubeadmConfig Ready", "KubeadmConfig CertificatesAvailable", "KubeadmConfig DataSecretAvailable"],
    "Machine BootstrapConfigReady",
  ),
  ...one(
    "Written by the provider of machines before the core has set the owner: whether the core copies it is chance.",
    /^False (WaitingForMachine|WaitingForBootstrapData)$/,
    "Machine InfrastructureReady",
  ),
  ...one(
    "The Node comes soon after the machine: whether somebody looks in between is chance.",
    /^(Unknown NodeDoesNotExist|False NodeNotReady|False NodeNotHealthy)$/,
    ...["Machine NodeReady", "Machine NodeHealthy"],
  ),
];
