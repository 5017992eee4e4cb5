/** What moved between v1beta1 and v1beta2 of KubeadmConfig. */
import { duration } from "../cluster-api/conversion-moves.ts";
import type { Move, ValueConversion } from "../cluster-api/lossless-conversion.ts";

type Argument = { name: string; value: string };

/** Arguments as a map, and as a list in the order of their names. */
const args: ValueConversion = {
  toStored: (map) =>
    Object.entries(map as Record<string, string>)
      .map(([name, value]) => ({ name, value }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  fromStored: (list) => Object.fromEntries((list as Argument[]).map(({ name, value }) => [name, value])),
};

const PROGRAMS = ["apiServer", "controllerManager", "scheduler", "etcd.local"];
const GONE = ["apiVersion", "kind", "kubernetesVersion", "networking", "clusterName"];

/** Fields of a specification that stands at `spec`. */
export const specMoves = (spec: string): Move[] => [
  ...["joinConfiguration", "initConfiguration"].map((of): Move => {
    const path = `${spec}.${of}.nodeRegistration.kubeletExtraArgs`;
    return [path, path, args];
  }),
  ...PROGRAMS.map((of): Move => {
    const path = `${spec}.clusterConfiguration.${of}.extraArgs`;
    return [path, path, args];
  }),
  [`${spec}.joinConfiguration.discovery.timeout`, `${spec}.joinConfiguration.timeouts.tlsBootstrapSeconds`, duration],
  ...GONE.map((name): Move => [`${spec}.clusterConfiguration.${name}`, undefined]),
  ...["apiVersion", "kind"].flatMap((name): Move[] => [
    [`${spec}.joinConfiguration.${name}`, undefined],
    [`${spec}.initConfiguration.${name}`, undefined],
  ]),
  [`${spec}.useExperimentalRetryJoin`, undefined],
];
