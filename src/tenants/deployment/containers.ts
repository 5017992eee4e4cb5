import type { Component } from "../../kinds/kamaji/deployment.ts";
import { apiServerFlags, controllerManagerFlags, ignoredFlags, schedulerFlags } from "../flags.ts";
import { KINE_FLAG, KINE_MOUNT, kineArgs, kineContainers, othersOf } from "./kine.ts";
import { EGRESS_FLAG, EGRESS_MOUNTS, ignoredServerFlags, konnectivityContainer } from "./konnectivity.ts";
import { probesOf } from "./probes.ts";
import { fileOf, kubeconfigMount, PKI_MOUNT } from "./volumes.ts";
import type { Wanted } from "./wanted.ts";

const CONTROLLER_MANAGER_PORT = 10_257;
const SCHEDULER_PORT = 10_259;
const HEALTHZ = { liveness: "/healthz", readiness: "/healthz", startup: "/healthz" };

interface Own {
  component: Component;
  command: string;
  image: string;
  args: string[];
  port: number;
  paths: typeof HEALTHZ;
  mounts: object[];
  more?: object;
}

/** The containers of a tenant's Pods: its components, then the user's. */
export function containersOf(wanted: Wanted): object[] {
  const { spec, plane } = wanted;
  const { konnectivity } = spec.addons ?? {};
  return [
    // A kubelet starts them in this order: what kube-apiserver needs is there before it.
    ...kineContainers(wanted),
    ...ownOf(wanted).map((own) => containerOf(own, wanted)),
    ...(konnectivity === undefined ? [] : [konnectivityContainer(konnectivity.server, plane)]),
    ...othersOf(wanted),
  ];
}

/** Arguments of the user's that have no effect, since they are managed. */
export function ignoredArguments(wanted: Wanted): string[] {
  const { extraArgs = {} } = wanted.spec.controlPlane.deployment;
  const own = ownOf(wanted).map(({ component, args }) => ({
    field: `spec.controlPlane.deployment.extraArgs.${component}`,
    ignored: ignoredFlags(extraArgs[component] ?? [], args),
  }));
  const { server } = wanted.spec.addons?.konnectivity ?? {};
  const tunnel =
    server === undefined
      ? []
      : [{ field: "spec.addons.konnectivity.server.extraArgs", ignored: ignoredServerFlags(server, wanted.plane) }];
  return [
    ...[...own, ...tunnel].flatMap(({ field, ignored }) => ignored.map((flag) => `${field}: ${flag} is managed`)),
    ...kineIgnored(wanted),
  ];
}

function kineIgnored(wanted: Wanted): string[] {
  const { kine: user = [] } = wanted.spec.controlPlane.deployment.extraArgs ?? {};
  const hasKine = wanted.plane.store?.kine !== undefined;
  const why = hasKine ? "is managed" : "has no effect, the DataStore is an etcd";
  return ignoredFlags(user, hasKine ? kineArgs(wanted) : []).map(
    (flag) => `spec.controlPlane.deployment.extraArgs.kine: ${flag} ${why}`,
  );
}

function ownOf({ spec, plane }: Wanted): Own[] {
  const { registrySettings: images } = spec.controlPlane.deployment;
  const hasKonnectivity = spec.addons?.konnectivity !== undefined;
  const hasKine = plane.store?.kine !== undefined;
  return [
    {
      component: "apiServer",
      command: "kube-apiserver",
      image: images.apiServerImage,
      args: apiServerFlags(plane, fileOf, { ...(hasKonnectivity && EGRESS_FLAG), ...(hasKine && KINE_FLAG) }),
      port: plane.port,
      paths: { liveness: "/livez", readiness: "/readyz", startup: "/livez" },
      mounts: [PKI_MOUNT, ...(hasKonnectivity ? EGRESS_MOUNTS : []), ...(hasKine ? [KINE_MOUNT] : [])],
      more: { ports: [{ name: "kube-apiserver", containerPort: plane.port, protocol: "TCP" }] },
    },
    {
      component: "scheduler",
      command: "kube-scheduler",
      image: images.schedulerImage,
      args: schedulerFlags(plane, fileOf, SCHEDULER_PORT),
      port: SCHEDULER_PORT,
      paths: HEALTHZ,
      mounts: [kubeconfigMount("scheduler-kubeconfig")],
    },
    {
      component: "controllerManager",
      command: "kube-controller-manager",
      image: images.controllerManagerImage,
      args: controllerManagerFlags(plane, fileOf, CONTROLLER_MANAGER_PORT),
      port: CONTROLLER_MANAGER_PORT,
      paths: HEALTHZ,
      mounts: [kubeconfigMount("controller-manager-kubeconfig"), PKI_MOUNT],
    },
  ];
}

function containerOf(own: Own, { spec, plane }: Wanted): object {
  const { deployment } = spec.controlPlane;
  const { registry, tagSuffix = "" } = deployment.registrySettings;
  const { component } = own;
  const tag = `${plane.version.startsWith("v") ? "" : "v"}${plane.version}`.replaceAll("+", "_");
  const resources = deployment.resources?.[component];
  const securityContext = deployment.containerSecurityContexts?.[component];
  return {
    name: own.command,
    image: `${registry}/${own.image}:${tag}${tagSuffix}`,
    // A version's image does not change: with it on the node, a registry that is away stops nothing.
    imagePullPolicy: "IfNotPresent",
    command: [own.command],
    args: own.args,
    ...own.more,
    ...probesOf(deployment.probes, component, own.port, own.paths),
    ...(resources !== undefined && { resources }),
    ...(securityContext !== undefined && { securityContext }),
    volumeMounts: [...own.mounts, ...(deployment.additionalVolumeMounts?.[component] ?? [])],
  };
}
