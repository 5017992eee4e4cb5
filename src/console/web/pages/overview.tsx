import { FOLLOWED, groupOf } from "../../../views/followed-kinds.ts";
import type { Failed, StateCount } from "../../../views/overview.ts";
import type { Row } from "../../../views/row.ts";
import { since } from "../../../views/since.ts";
import { now } from "../clock.ts";
import { Growth } from "../parts/growth.tsx";
import { Table } from "../parts/table.tsx";
import { Ago, Denied, Empty, Section, toneOf, Word } from "../parts/words.tsx";
import { overview } from "../rows.ts";

const MOST = 30;

/** Machines by state, pools, clusters, what waits and for how long, what failed. */
export function OverviewPage() {
  const { machines, pools, clusters, waiting, failures } = overview.value;
  return (
    <>
      <h1>Overview</h1>
      <Denied kinds={FOLLOWED.filter(({ role }) => role !== undefined).map(({ name }) => name)} />
      <Section title="Machines" count={machines.reduce((sum, { total }) => sum + total, 0)}>
        {machines.length === 0 ? (
          <Empty>No machines yet. Apply a pool, or have a machine boot from the network.</Empty>
        ) : (
          <div class="cards">
            {machines.map((count) => (
              <States key={count.kind} count={count} />
            ))}
          </div>
        )}
        <Growth />
      </Section>
      <Section title="Pools" count={pools.length}>
        {pools.length === 0 ? <Empty>No pools.</Empty> : <Rows label="Pools" rows={pools} />}
      </Section>
      <Section title="Clusters" count={clusters.length}>
        {clusters.length === 0 ? <Empty>No clusters.</Empty> : <Rows label="Clusters" rows={clusters} />}
      </Section>
      <Section title="Waiting" count={waiting.length}>
        {waiting.length === 0 ? <Empty>Nothing waits.</Empty> : <Waiting rows={waiting.slice(0, MOST)} />}
      </Section>
      <Section title="Recent failures" count={failures.length}>
        {failures.length === 0 ? <Empty>None in the last hour.</Empty> : <Failures rows={failures.slice(0, MOST)} />}
      </Section>
    </>
  );
}

function States({ count: { kind, total, ready, states } }: { count: StateCount }) {
  return (
    <article class="card">
      <h3>{kind}</h3>
      <p class="figure">
        {ready}
        <small> of {total} ready</small>
      </p>
      <meter min={0} max={Math.max(1, total)} value={ready} aria-label={`${kind}: ready`} />
      <ul class="states">
        {Object.entries(states).map(([state, number]) => (
          <li key={state}>
            <a href={`/machines?q=${encodeURIComponent(`kind:${kind} state:${state.split(" ")[0]}`)}`}>
              {number} {state}
            </a>
          </li>
        ))}
      </ul>
    </article>
  );
}

/** A link to the object of a row. */
export function RowLink({
  row: { apiVersion, kind, namespace, name },
}: {
  row: Pick<Row, "apiVersion" | "kind" | "namespace" | "name">;
}) {
  const followed = FOLLOWED.find((one) => one.kind === kind && one.group === groupOf(apiVersion));
  if (followed === undefined) return <>{name}</>;
  const path = [followed.name, namespace ?? "-", name].map(encodeURIComponent).join("/");
  return <a href={`/object/${path}`}>{name}</a>;
}

const keyOf = ({ kind, namespace, name }: Pick<Row, "kind" | "namespace" | "name">): string =>
  `${kind}/${namespace}/${name}`;

function Rows({ label, rows }: { label: string; rows: readonly Row[] }) {
  return (
    <Table<Row>
      label={label}
      rows={rows}
      keyOf={keyOf}
      cells={[
        { head: "Name", cell: (row) => <RowLink row={row} /> },
        { head: "Kind", cell: ({ kind }) => kind, wide: true },
        { head: "Namespace", cell: ({ namespace }) => namespace, wide: true },
        {
          head: "State",
          cell: ({ state, ready, failure, waitsFor }) => (
            <Word tone={toneOf({ ready, failed: failure !== undefined, waits: waitsFor !== undefined })}>{state}</Word>
          ),
        },
        { head: "Ready", cell: ({ members }) => (members === undefined ? "" : `${members.ready}/${members.wanted}`) },
        { head: "Version", cell: ({ version }) => version, wide: true },
        { head: "Age", cell: ({ created }) => <Ago at={created} /> },
      ]}
    />
  );
}

function Waiting({ rows }: { rows: readonly Row[] }) {
  return (
    <Table<Row>
      label="Waiting"
      rows={rows}
      keyOf={keyOf}
      cells={[
        { head: "For", cell: ({ waitsSince, created }) => <Ago at={waitsSince ?? created} /> },
        { head: "Kind", cell: ({ kind }) => kind, wide: true },
        { head: "Name", cell: (row) => <RowLink row={row} /> },
        { head: "Waits for", cell: ({ waitsFor }) => waitsFor },
        {
          head: "Gives up",
          cell: ({ waitsUntil }) => (waitsUntil === undefined ? "" : `in ${since(waitsUntil - now.value)}`),
          wide: true,
        },
      ]}
    />
  );
}

function Failures({ rows }: { rows: readonly Failed[] }) {
  return (
    <Table<Failed>
      label="Recent failures"
      rows={rows}
      keyOf={({ kind, namespace, name, reason }, index) => `${kind}/${namespace}/${name} ${reason} ${index}`}
      cells={[
        { head: "Ago", cell: ({ at }) => <Ago at={at} /> },
        { head: "Kind", cell: ({ kind }) => kind, wide: true },
        { head: "Name", cell: ({ name }) => name },
        { head: "Reason", cell: ({ reason }) => <Word tone="bad">{reason}</Word> },
        { head: "Message", cell: ({ message, count }) => `${message}${count > 1 ? ` (${count} times)` : ""}` },
      ]}
    />
  );
}
