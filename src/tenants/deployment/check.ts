/** What a user asks of a tenant's Pods that can't be had together with what they have by themselves. Pure. */
import { othersOf } from "./kine.ts";
import type { Wanted } from "./wanted.ts";

interface Named {
  name?: string;
  mountPath?: string;
}

/** Fields that name what is taken: a container, a volume or a path of ours. Empty: the Pods can be written. */
export function takenNames(pod: Record<string, unknown>, wanted: Wanted): string[] {
  const containers = (pod.containers ?? []) as (Named & { volumeMounts?: Named[] })[];
  const field = (name: string): string => `spec.controlPlane.deployment.${name}`;
  return [
    ...repeated([...containers, ...((pod.initContainers ?? []) as Named[])], "name").map(
      (name) => `${field("additionalContainers")}: ${name} is a container of the control plane`,
    ),
    ...repeated((pod.volumes ?? []) as Named[], "name").map(
      (name) => `${field("additionalVolumes")}: ${name} is a volume of the control plane`,
    ),
    ...containers
      .slice(0, containers.length - othersOf(wanted).length)
      .flatMap(({ name, volumeMounts = [] }) =>
        repeated(volumeMounts, "mountPath").map(
          (path) => `${field("additionalVolumeMounts")}: ${path} has files of ${name} already`,
        ),
      ),
  ];
}

function repeated(list: readonly Named[], key: keyof Named): string[] {
  const all = list.map((one) => one[key]);
  return [...new Set(all.filter((value, at): value is string => value !== undefined && all.indexOf(value) < at))];
}
