import { parseTime } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { at, isRecord } from "../kinds/cluster-api/field-path.ts";
import { type Row, rowOf } from "./row.ts";

/** A tenant's control plane. */
export interface TenantRow extends Row {
  endpoint: string;
  driver: string;
  dataStore: string;
  schema: string;
  certificates: readonly TenantCertificate[];
}

export interface TenantCertificate {
  name: string;
  secret: string;
  /** When it was last written, milliseconds since 1970. */
  writtenAt?: number | undefined;
}

const text = (object: KubeObject, ...paths: string[]): string =>
  paths.map((path) => at(object, path)).find((value): value is string => typeof value === "string" && value !== "") ??
  "";

/** Pure. */
export function tenantRow(object: KubeObject): TenantRow {
  return {
    ...rowOf(object),
    endpoint: text(object, "status.controlPlaneEndpoint"),
    driver: text(object, "status.storage.driver"),
    dataStore: text(object, "status.storage.dataStoreName", "spec.dataStore"),
    schema: text(object, "status.storage.setup.schema", "spec.dataStoreSchema"),
    certificates: [
      ...certificatesIn(at(object, "status.certificates")),
      ...certificatesIn({ datastore: at(object, "status.storage.certificate") }),
    ],
  };
}

function certificatesIn(value: unknown): TenantCertificate[] {
  return Object.entries(isRecord(value) ? value : {}).flatMap(([name, one]) => {
    if (!isRecord(one) || typeof one.secretName !== "string") return [];
    const { lastUpdate } = one;
    return [
      { name, secret: one.secretName, writtenAt: typeof lastUpdate === "string" ? parseTime(lastUpdate) : undefined },
    ];
  });
}
