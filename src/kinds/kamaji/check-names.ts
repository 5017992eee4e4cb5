/** Names that a tenant gives to objects, or to parts of its Pods and its Service, which would be refused when those are written. */
import { type Problem, quoted } from "./problem.ts";
import type { TenantControlPlaneSpec } from "./tenant-control-plane.ts";

/** A tenant's name is that of its Service: a DNS label (RFC 1035). */
export function nameProblems(name: string): Problem[] {
  if (name.length <= 63 && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) return [];
  const message = `${quoted(name)} can't be the name of a Service: create it with at most 63 lower-case letters, digits and dashes, a letter first and no dash last`;
  return [{ field: "metadata.name", message }];
}

/** What has a name, and where. */
interface Named {
  field: string;
  name: string;
}
const SPEC = "spec.controlPlane";

const named = (field: string, list: readonly { name: string }[] | undefined): Named[] =>
  (list ?? []).map(({ name }, at) => ({ field: `${SPEC}.${field}[${at}].name`, name }));

/** Ports that a tenant's Service may have by itself. */
const OWN_PORTS: readonly Named[] = ["kube-apiserver", "konnectivity-server"].map((name) => ({
  field: "the control plane",
  name,
}));

/** Containers, volumes, mounts and ports whose name (of mounts: path) another has already. */
export function repeatedNames({ controlPlane: { deployment, service } }: TenantControlPlaneSpec): Problem[] {
  const containers = [
    ...named("deployment.additionalInitContainers", deployment?.additionalInitContainers),
    ...named("deployment.additionalContainers", deployment?.additionalContainers),
  ];
  const mounts = Object.entries(deployment?.additionalVolumeMounts ?? {}).map(([component, list]) =>
    (list ?? []).map(({ mountPath }, at) => ({
      field: `${SPEC}.deployment.additionalVolumeMounts.${component}[${at}].mountPath`,
      name: mountPath,
    })),
  );
  const volumes = named("deployment.additionalVolumes", deployment?.additionalVolumes);
  const ports = [...OWN_PORTS, ...named("service.additionalPorts", service.additionalPorts)];
  return [containers, volumes, ...mounts, ports].flatMap(repeated);
}

function repeated(list: readonly Named[]): Problem[] {
  const first = new Map<string, string>();
  return list.flatMap(({ field, name }) => {
    const taken = first.get(name);
    if (taken === undefined) {
      first.set(name, field);
      return [];
    }
    return [{ field, message: `${quoted(name)} is taken by ${taken}: choose another` }];
  });
}
