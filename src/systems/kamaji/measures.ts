import type { KubeObject } from "@slipway/kube";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { ProgramUsage } from "../../tenants/runtime.ts";
import type { Measure, Measured, ObjectCount } from "../system.ts";

/** Tenants by Kamaji's word for how they are. */
export const TENANT_COUNT: ObjectCount = {
  ...{ name: "slipway_tenants", help: "Tenant control planes by state", label: "state", kind: TenantControlPlane },
  valueOf: (tenant: KubeObject) =>
    (tenant as TenantControlPlane).status?.kubernetesResources?.version?.status ?? "Unseen",
};

const LABELS = ["namespace", "tenant", "component"];
const MEMORY = "slipway_tenant_memory_bytes";
const CPU = "slipway_tenant_cpu_seconds";

/** What a tenant's programs cost that run as processes of this machine. */
export const TENANT_MEASURES: readonly Measure[] = [
  { name: MEMORY, help: "Resident memory of a tenant's program", labels: LABELS },
  { name: CPU, help: "CPU time of a tenant's program since its last start", labels: LABELS },
];

/** Memory and CPU time of each program, by `TENANT_MEASURES`. */
export function measuredOf(usage: readonly ProgramUsage[]): Measured[] {
  return usage.flatMap(({ tenant: name, component, residentBytes, cpuSeconds }) => {
    const [namespace = "", tenant = ""] = name.split("/");
    const labels = { namespace, tenant, component };
    return [
      { name: MEMORY, labels, value: residentBytes },
      { name: CPU, labels, value: cpuSeconds },
    ];
  });
}
