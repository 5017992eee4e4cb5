import type { KubeObject } from "@slipway/kube";
import type { EventRow } from "../../../views/event-row.ts";
import { events } from "../rows.ts";
import { Table } from "./table.tsx";
import { Ago, Empty, Word } from "./words.tsx";

const MOST = 100;

/** The events of an object, or of several. */
export function EventsOf({ objects }: { objects: readonly KubeObject[] }) {
  const keys = new Set(objects.map(({ kind, metadata: { namespace = "", name } }) => `${kind}/${namespace}/${name}`));
  const own = events.value.filter(
    ({ kind, namespace = "", name }) => keys.has(`${kind}/${namespace}/${name}`) || keys.has(`${kind}//${name}`),
  );
  if (own.length === 0) return <Empty>No events.</Empty>;
  return (
    <Table<EventRow>
      label="Events"
      rows={own.slice(0, MOST)}
      keyOf={({ reason, last, message, name }, index) => `${name} ${reason} ${last} ${message} ${index}`}
      cells={[
        { head: "Ago", cell: ({ last }) => <Ago at={last} /> },
        {
          head: "Reason",
          cell: ({ type, reason }) => <Word tone={type === "Warning" ? "bad" : "idle"}>{reason}</Word>,
        },
        { head: "Message", cell: ({ message }) => message },
        { head: "Times", cell: ({ count }) => (count > 1 ? count : ""), wide: true },
        { head: "From", cell: ({ from }) => from, wide: true },
      ]}
    />
  );
}
