import { computed } from "@preact/signals";
import type { KubeObject } from "@slipway/kube";
import { at } from "../../../kinds/cluster-api/field-path.ts";
import { tenantRow } from "../../../views/tenant.ts";
import { Table } from "../parts/table.tsx";
import { Ago, Denied, Empty, ObjectLink, Section, StateOf } from "../parts/words.tsx";
import { objectsOf } from "../store.ts";

const TENANTS = "tenantcontrolplanes.kamaji.clastix.io";
const STORES = "datastores.kamaji.clastix.io";
const tenants = computed(() => objectsOf(TENANTS).value.map((object) => ({ ...tenantRow(object), object })));

/** Tenants' control planes, their certificates and where their objects are. */
export function TenantsPage() {
  const stores = objectsOf(STORES).value;
  return (
    <>
      <h1>Tenants</h1>
      <Denied kinds={[TENANTS, STORES]} />
      <Section title="Control planes" count={tenants.value.length}>
        {tenants.value.length === 0 ? (
          <Empty>No tenants.</Empty>
        ) : (
          <Table
            label="Control planes"
            rows={tenants.value}
            keyOf={({ object }) => object.metadata.uid}
            cells={[
              { head: "Name", cell: ({ object }) => <ObjectLink object={object} /> },
              { head: "Namespace", cell: ({ namespace }) => namespace, wide: true },
              { head: "State", cell: ({ object }) => <StateOf object={object} /> },
              { head: "Version", cell: ({ version }) => version },
              { head: "Endpoint", cell: ({ endpoint }) => endpoint },
              {
                head: "DataStore",
                cell: ({ dataStore, driver }) => [dataStore, driver].filter(Boolean).join(", "),
                wide: true,
              },
              { head: "Schema", cell: ({ schema }) => schema, wide: true },
            ]}
          />
        )}
      </Section>
      <Section title="Certificates">
        <p class="dim">
          The Secrets that hold them are never read by the console: when each was last written is in the tenant's
          status.
        </p>
        {tenants.value.flatMap(({ certificates }) => certificates).length === 0 ? (
          <Empty>None.</Empty>
        ) : (
          <Table
            label="Certificates"
            rows={tenants.value.flatMap(({ object, certificates }) => certificates.map((one) => ({ object, ...one })))}
            keyOf={({ object, name }) => `${object.metadata.uid} ${name}`}
            cells={[
              { head: "Tenant", cell: ({ object }) => object.metadata.name },
              { head: "Certificate", cell: ({ name }) => name },
              { head: "Secret", cell: ({ secret }) => secret, wide: true },
              {
                head: "Written",
                cell: ({ writtenAt }) =>
                  writtenAt === undefined ? (
                    ""
                  ) : (
                    <>
                      <Ago at={writtenAt} /> ago
                    </>
                  ),
              },
            ]}
          />
        )}
      </Section>
      <Section title="Datastores" count={stores.length}>
        {stores.length === 0 ? <Empty>None.</Empty> : <Stores stores={stores} />}
      </Section>
    </>
  );
}

function Stores({ stores }: { stores: readonly KubeObject[] }) {
  const list = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(", ") : "");
  return (
    <Table<KubeObject>
      label="Datastores"
      rows={stores}
      keyOf={({ metadata }) => metadata.uid}
      cells={[
        { head: "Name", cell: (object) => <ObjectLink object={object} /> },
        { head: "State", cell: (object) => <StateOf object={object} /> },
        { head: "Driver", cell: (object) => String(at(object, "spec.driver") ?? "") },
        { head: "Endpoints", cell: (object) => list(at(object, "spec.endpoints")), wide: true },
        { head: "Used by", cell: (object) => list(at(object, "status.usedBy")) },
      ]}
    />
  );
}
