import { computed, useSignal } from "@preact/signals";
import type { KubeObject } from "@slipway/kube";
import { useEffect } from "preact/hooks";
import { bootsOf, LEASES_LABEL, type LeaseRow, leasesOf, subnetsOf, unleasedHosts } from "../../../views/network.ts";
import { since } from "../../../views/since.ts";
import { read } from "../api.ts";
import { clock, now } from "../clock.ts";
import { Table } from "../parts/table.tsx";
import { Ago, Denied, Empty, ObjectLink, Section, StateOf } from "../parts/words.tsx";
import { objectsOf } from "../store.ts";

const HOSTS = "baremetalhosts.metal3.io";
const hosts = computed(() => objectsOf(HOSTS).value);
const EVERY_MS = 5_000;
const MOST = 500;

/** DHCP's leases, hosts that nobody uses, and who boots what. */
export function NetworkPage() {
  const maps = useSignal<readonly KubeObject[]>([]);
  const refusal = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const stopped = new AbortController();
    void lookAtLeases(stopped.signal, (found) => {
      maps.value = found.items;
      refusal.value = found.refusal;
    });
    return () => stopped.abort();
  }, []);
  const leases = leasesOf(maps.value, hosts.value);
  const unleased = unleasedHosts(hosts.value);
  const boots = bootsOf(hosts.value);
  return (
    <>
      <h1>Network</h1>
      <Denied kinds={[HOSTS]} />
      <Section title="Who boots what" count={boots.length}>
        {boots.length === 0 ? (
          <Empty>No machine boots now.</Empty>
        ) : (
          <Table
            label="Who boots what"
            rows={boots}
            keyOf={({ host }) => host.metadata.uid}
            cells={[
              { head: "Host", cell: ({ host }) => <ObjectLink object={host} machine /> },
              { head: "Card", cell: ({ mac }) => mac },
              { head: "State", cell: ({ host }) => <StateOf object={host} /> },
              { head: "Does", cell: ({ doing }) => doing },
              { head: "Trust", cell: ({ trust }) => trust, wide: true },
            ]}
          />
        )}
      </Section>
      <Section title="Unleased hosts" count={unleased.length}>
        {unleased.length === 0 ? (
          <Empty>None.</Empty>
        ) : (
          <Table<KubeObject>
            label="Unleased hosts"
            rows={unleased.slice(0, MOST)}
            keyOf={({ metadata }) => metadata.uid}
            cells={[
              { head: "Host", cell: (host) => <ObjectLink object={host} machine /> },
              { head: "State", cell: (host) => <StateOf object={host} /> },
              { head: "Age", cell: ({ metadata }) => <Ago at={Date.parse(metadata.creationTimestamp)} /> },
            ]}
          />
        )}
      </Section>
      <Section title="DHCP subnets">
        {refusal.value === undefined ? null : <p class="notice">{refusal.value}</p>}
        <Subnets leases={leases} />
      </Section>
      <Section title="Leases" count={leases.length}>
        {leases.length === 0 ? (
          <Empty>No leases in the cluster: netboot copies them here where two replicas serve a network.</Empty>
        ) : (
          <Leases leases={leases.slice(0, MOST)} />
        )}
      </Section>
    </>
  );
}

async function lookAtLeases(
  until: AbortSignal,
  onFound: (found: { items: readonly KubeObject[]; refusal?: string | undefined }) => void,
): Promise<void> {
  while (!until.aborted) {
    const found = await read(`/api/v1/configmaps?labelSelector=${encodeURIComponent(LEASES_LABEL)}`).then(
      (list) => ({ items: (list as { items?: KubeObject[] }).items ?? [] }),
      (error: Error) => ({ items: [], refusal: error.message }),
    );
    if (until.aborted) return;
    onFound(found);
    await clock.sleep(EVERY_MS, until).catch(() => undefined);
  }
}

function Subnets({ leases }: { leases: readonly LeaseRow[] }) {
  const subnets = subnetsOf(leases, now.value);
  if (subnets.length === 0) return <Empty>No network with leases.</Empty>;
  return (
    <Table
      label="DHCP subnets"
      rows={subnets}
      keyOf={({ via }) => via}
      cells={[
        { head: "Asked by", cell: ({ via }) => via },
        { head: "First address", cell: ({ first }) => first },
        { head: "Last address", cell: ({ last }) => last },
        { head: "Leased", cell: ({ bound }) => bound },
        { head: "Released, declined or over", cell: ({ other }) => other, wide: true },
      ]}
    />
  );
}

function Leases({ leases }: { leases: readonly LeaseRow[] }) {
  return (
    <Table<LeaseRow>
      label="Leases"
      rows={leases}
      keyOf={({ address }) => address}
      cells={[
        { head: "Address", cell: ({ address }) => address },
        { head: "Client", cell: ({ client }) => client },
        { head: "Host", cell: ({ host }) => host },
        { head: "State", cell: ({ state }) => state, wide: true },
        { head: "Ends", cell: ({ until }) => (until > now.value ? `in ${since(until - now.value)}` : "is over") },
      ]}
    />
  );
}
