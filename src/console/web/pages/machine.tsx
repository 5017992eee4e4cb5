import type { KubeObject } from "@slipway/kube";
import { hardwareOf, sizeText } from "../../../views/hardware.ts";
import { hostOf } from "../../../views/machine-host.ts";
import { timelineOf } from "../../../views/timeline.ts";
import { session } from "../api.ts";
import { Actions } from "../parts/actions.tsx";
import { Console } from "../parts/console.tsx";
import { EventsOf } from "../parts/events.tsx";
import { Standing } from "../parts/standing.tsx";
import { Table } from "../parts/table.tsx";
import { TimelineOf } from "../parts/timeline.tsx";
import { Empty, ObjectLink, Section } from "../parts/words.tsx";
import { Yaml } from "../parts/yaml.tsx";
import { findObject, objectsOf } from "../store.ts";

/** One machine: its way, what it has inside, what was reported of it, and what can be done with it. */
export function MachinePage({ kind, object }: { kind: string; object: KubeObject }) {
  const { namespace, name } = object.metadata;
  const host = hostOf(object, objectsOf("baremetalhosts.metal3.io").value);
  const data = host && findObject("hardwaredata.metal3.io", host.metadata.namespace, host.metadata.name);
  const { facts, disks, nics } = hardwareOf(host ?? object, data);
  const features = session.value?.features;
  const about = host?.metadata ?? { namespace, name };
  const query = new URLSearchParams({ ...(about.namespace && { namespace: about.namespace }), name: about.name });
  const source = host === undefined ? kind : "baremetalhosts.metal3.io";
  return (
    <>
      <Standing object={object} />
      <Actions object={object} />
      {host !== undefined && host !== object ? (
        <p>
          Runs on host <ObjectLink object={host} machine />.
        </p>
      ) : null}
      <Section title="Timeline">
        <TimelineOf timeline={timelineOf(object)} />
      </Section>
      <Section title="Hardware">{facts.length === 0 ? <Empty>Not inspected.</Empty> : <Facts facts={facts} />}</Section>
      {disks.length === 0 ? null : (
        <Section title="Disks" count={disks.length}>
          <Table
            label="Disks"
            rows={disks}
            keyOf={({ name: disk }, index) => `${disk} ${index}`}
            cells={[
              { head: "Name", cell: ({ name: disk }) => disk },
              { head: "Size", cell: ({ sizeBytes }) => sizeText(sizeBytes) },
              { head: "Type", cell: ({ type }) => type },
              { head: "Model", cell: ({ vendor, model }) => [vendor, model].filter(Boolean).join(" "), wide: true },
              { head: "Serial number", cell: ({ serialNumber }) => serialNumber },
            ]}
          />
        </Section>
      )}
      {nics.length === 0 ? null : (
        <Section title="Network cards" count={nics.length}>
          <Table
            label="Network cards"
            rows={nics}
            keyOf={({ mac, ip }, index) => `${mac} ${ip} ${index}`}
            cells={[
              { head: "Name", cell: ({ name: card }) => card },
              { head: "MAC", cell: ({ mac, pxe }) => `${mac ?? ""}${pxe ? " (boots)" : ""}` },
              { head: "Address", cell: ({ ip }) => ip },
              { head: "Speed", cell: ({ speedGbps }) => (speedGbps ? `${speedGbps} Gbit/s` : ""), wide: true },
              {
                head: "Switch",
                cell: ({ lldp }) => [lldp?.switchSystemName, lldp?.portID].filter(Boolean).join(" "),
                wide: true,
              },
            ]}
          />
        </Section>
      )}
      <Section title="Events">
        <EventsOf objects={host === undefined ? [object] : [object, host]} />
      </Section>
      {features?.logs ? (
        <Section title="Boot log">
          <Console label="Boot log" path={`/console/logs/${source}?${query}`} />
        </Section>
      ) : null}
      {features?.serial ? (
        <Section title="Serial console">
          <Console label="Serial console" path={`/console/serial/${source}?${query}`} />
        </Section>
      ) : null}
      <Section title="Object">
        <Yaml object={object} />
      </Section>
    </>
  );
}

function Facts({ facts }: { facts: readonly (readonly [string, string])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
