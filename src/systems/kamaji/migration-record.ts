/** A move between DataStores as it is written on the tenant. */
import { Fault } from "@slipway/base";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { type Migration, readMigration } from "./migration-plan.ts";
import { MIGRATION } from "./names.ts";

/** Undefined: none is under way. Throws `Invalid` for what can't be read. */
export function recordOf(tenant: TenantControlPlane): Migration | undefined {
  try {
    return readMigration(tenant.metadata.annotations?.[MIGRATION]);
  } catch (error) {
    throw unreadable(tenant, (error as Error).message);
  }
}

/** `Invalid`: the annotation can't be gone by, and why. */
export function unreadable({ metadata }: TenantControlPlane, why: string): Fault {
  return new Fault("Invalid", `TenantControlPlane/${metadata.name}`, `annotation ${MIGRATION}: ${why}`, {
    remedy: "remove the annotation; what a move has left in another DataStore stays there",
  });
}

/** DataStores in which a move may have left something of the tenant's. */
export function storesOfMove({ metadata }: TenantControlPlane): string[] {
  try {
    const record = readMigration(metadata.annotations?.[MIGRATION]);
    return record === undefined ? [] : [record.from, record.to];
  } catch {
    return [];
  }
}
